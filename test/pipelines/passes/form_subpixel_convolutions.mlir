// RUN: hirc-opt %s --split-input-file -p 'form-subpixel-convolutions{chips=sm_90a}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'form-subpixel-convolutions{chips=sm_90a allow-tf32=true}' | FileCheck %s --check-prefix=ROUNDED

// Of a window of 2x2 in steps of 2 each result has one place, by its phase: four filters a result.

// CHECK-DAG:   #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d6, d2 + d7, d4 + d8)>
// CHECK-DAG:   #[[FILTERS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d1, d3, d5, d7, d8, d6)>
// CHECK-LABEL: func.func @whole(
// CHECK-SAME:    %[[X:.*]]: tensor<4x130x112x152xbf16>, %[[W:.*]]: tensor<288x130x2x2xbf16>, %[[B:.*]]: tensor<4x288x224x304xf32>
// CHECK:         %[[BEGUN:.*]] = tensor.expand_shape %[[B]] {{\[}}[0], [1], [2, 3], [4, 5]]
// CHECK:         %[[F:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<288x2x2x1x1x130xbf16>)
// CHECK:           tensor.extract %[[W]]
// CHECK:         %[[Y:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTERS]],
// CHECK-SAME:      ins(%[[X]], %[[F]] : tensor<4x130x112x152xbf16>, tensor<288x2x2x1x1x130xbf16>) outs(%[[BEGUN]] : tensor<4x288x112x2x152x2xf32>)
// CHECK:         tensor.collapse_shape %[[Y]] {{\[}}[0], [1], [2, 3], [4, 5]] : tensor<4x288x112x2x152x2xf32> into tensor<4x288x224x304xf32>
func.func @whole(%x: tensor<4x130x112x152xbf16>, %w: tensor<288x130x2x2xbf16>, %b: tensor<4x288x224x304xf32>) -> tensor<4x288x224x304xf32> {
  %zero = arith.constant 0.0 : bf16
  %room = tensor.empty() : tensor<4x130x225x305xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%room : tensor<4x130x225x305xbf16>) -> tensor<4x130x225x305xbf16>
  %z = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [4, 130, 112, 152] [1, 1, 2, 2] : tensor<4x130x112x152xbf16> into tensor<4x130x225x305xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%z, %w : tensor<4x130x225x305xbf16>, tensor<288x130x2x2xbf16>) outs(%b : tensor<4x288x224x304xf32>) -> tensor<4x288x224x304xf32>
  return %y : tensor<4x288x224x304xf32>
}

// -----

// Phases with a result fewer: one is left out, after the sums were rounded. Windows reach a place
// beyond the image, and the places of one phase are three, of the other two and a zero.

// CHECK-LABEL: func.func @beyond(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<96xf32>) outs(%{{.*}} : tensor<1x96x20001x2xf32>)
// CHECK:         tensor.pad %{{.*}} low[0, 0, 1] high[0, 0, 1]
// CHECK:         tensor<96x2x3x42xf16>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x96x20001x2xf16>)
// CHECK:           arith.truncf
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[R]] {{\[}}[0], [1], [2, 3]]
// CHECK:         tensor.extract_slice %[[C]][0, 0, 0] [1, 96, 40001] [1, 1, 1] : tensor<1x96x40002xf16> to tensor<1x96x40001xf16>
func.func @beyond(%x: tensor<1x42x20001xf16>, %w: tensor<96x42x5xf16>, %b: tensor<96xf32>) -> tensor<1x96x40001xf16> {
  %zero = arith.constant 0.0 : f16
  %room = tensor.empty() : tensor<1x42x40005xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%room : tensor<1x42x40005xf16>) -> tensor<1x42x40005xf16>
  %z = tensor.insert_slice %x into %zeros[0, 0, 2] [1, 42, 20001] [1, 1, 2] : tensor<1x42x20001xf16> into tensor<1x42x40005xf16>
  %empty = tensor.empty() : tensor<1x96x40001xf32>
  %start = linalg.broadcast ins(%b : tensor<96xf32>) outs(%empty : tensor<1x96x40001xf32>) dimensions = [0, 2]
  %y = linalg.conv_1d_ncw_fcw ins(%z, %w : tensor<1x42x40005xf16>, tensor<96x42x5xf16>) outs(%start : tensor<1x96x40001xf32>) -> tensor<1x96x40001xf32>
  %out = tensor.empty() : tensor<1x96x40001xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, w) -> (n, f, w)>, affine_map<(n, f, w) -> (n, f, w)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x96x40001xf32>) outs(%out : tensor<1x96x40001xf16>) {
  ^bb0(%in: f32, %o: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1x96x40001xf16>
  return %r : tensor<1x96x40001xf16>
}

// -----

// Tensor cores multiply f32 only where it may be rounded.

// CHECK-LABEL:   func.func @f32(
// CHECK-NOT:     tensor.collapse_shape
// ROUNDED-LABEL: func.func @f32(
// ROUNDED:       tensor.collapse_shape
func.func @f32(%x: tensor<4x130x112x152xf32>, %w: tensor<288x130x2x2xf32>, %b: tensor<4x288x224x304xf32>) -> tensor<4x288x224x304xf32> {
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<4x130x225x305xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%room : tensor<4x130x225x305xf32>) -> tensor<4x130x225x305xf32>
  %z = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [4, 130, 112, 152] [1, 1, 2, 2] : tensor<4x130x112x152xf32> into tensor<4x130x225x305xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%z, %w : tensor<4x130x225x305xf32>, tensor<288x130x2x2xf32>) outs(%b : tensor<4x288x224x304xf32>) -> tensor<4x288x224x304xf32>
  return %y : tensor<4x288x224x304xf32>
}

// -----

// A padded image, in which none is apart; too few products; sums of 16 bits, of which some are left out.

// CHECK-LABEL: func.func @padded(
// CHECK-NOT:     tensor.collapse_shape
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     tensor.collapse_shape
// CHECK-LABEL: func.func @narrow(
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         return
func.func @padded(%x: tensor<4x130x112x152xbf16>, %w: tensor<288x130x2x2xbf16>, %b: tensor<4x288x113x153xf32>) -> tensor<4x288x113x153xf32> {
  %zero = arith.constant 0.0 : bf16
  %room = tensor.empty() : tensor<4x130x114x154xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%room : tensor<4x130x114x154xbf16>) -> tensor<4x130x114x154xbf16>
  %z = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [4, 130, 112, 152] [1, 1, 1, 1] : tensor<4x130x112x152xbf16> into tensor<4x130x114x154xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%z, %w : tensor<4x130x114x154xbf16>, tensor<288x130x2x2xbf16>) outs(%b : tensor<4x288x113x153xf32>) -> tensor<4x288x113x153xf32>
  return %y : tensor<4x288x113x153xf32>
}
func.func @few(%x: tensor<1x16x6xbf16>, %w: tensor<8x16x2xbf16>, %b: tensor<1x8x12xf32>) -> tensor<1x8x12xf32> {
  %zero = arith.constant 0.0 : bf16
  %room = tensor.empty() : tensor<1x16x13xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%room : tensor<1x16x13xbf16>) -> tensor<1x16x13xbf16>
  %z = tensor.insert_slice %x into %zeros[0, 0, 1] [1, 16, 6] [1, 1, 2] : tensor<1x16x6xbf16> into tensor<1x16x13xbf16>
  %y = linalg.conv_1d_ncw_fcw ins(%z, %w : tensor<1x16x13xbf16>, tensor<8x16x2xbf16>) outs(%b : tensor<1x8x12xf32>) -> tensor<1x8x12xf32>
  return %y : tensor<1x8x12xf32>
}
func.func @narrow(%x: tensor<1x42x20001xf16>, %w: tensor<96x42x5xf16>, %b: tensor<1x96x40001xf16>) -> tensor<1x96x40001xf16> {
  %zero = arith.constant 0.0 : f16
  %room = tensor.empty() : tensor<1x42x40005xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%room : tensor<1x42x40005xf16>) -> tensor<1x42x40005xf16>
  %z = tensor.insert_slice %x into %zeros[0, 0, 2] [1, 42, 20001] [1, 1, 2] : tensor<1x42x20001xf16> into tensor<1x42x40005xf16>
  %y = linalg.conv_1d_ncw_fcw ins(%z, %w : tensor<1x42x40005xf16>, tensor<96x42x5xf16>) outs(%b : tensor<1x96x40001xf16>) -> tensor<1x96x40001xf16>
  return %y : tensor<1x96x40001xf16>
}

// RUN: hirc-opt %s --split-input-file -p lay-channels-together | FileCheck %s

// Channels come last: in a copy of what is padded, and in one of the weights.

// CHECK-DAG:   #[[$LAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-DAG:   #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2 + d5, d3 + d6, d4)>
// CHECK-DAG:   #[[$WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d5, d6, d4)>
// CHECK-LABEL: func.func @padded(
// CHECK-SAME:    %[[X:.*]]: tensor<32x64x30x30xbf16>, %[[K:.*]]: tensor<96x64x3x3xbf16>
// CHECK:         %[[T:.*]] = linalg.generic {indexing_maps = [#[[$LAST]], {{.*}} ins(%[[X]] :
// CHECK:         %[[P:.*]] = tensor.pad %[[T]] low[0, 1, 2, 0] high[0, 1, 2, 0]
// CHECK:         tensor<32x30x30x64xbf16> to tensor<32x32x34x64xbf16>
// CHECK:         %[[W:.*]] = linalg.generic {indexing_maps = [#[[$LAST]], {{.*}} ins(%[[K]] :
// CHECK:         linalg.generic {indexing_maps = [#[[$IMAGE]], #[[$WEIGHTS]], {{.*}} ins(%[[P]], %[[W]] :
// CHECK-SAME:      tensor<32x96x30x32xf32>
func.func @padded(%x: tensor<32x64x30x30xbf16>, %k: tensor<96x64x3x3xbf16>, %s: tensor<32x96x30x32xf32>) -> tensor<32x96x30x32xf32> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 1, 2] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : bf16
  } : tensor<32x64x30x30xbf16> to tensor<32x64x32x34xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %k : tensor<32x64x32x34xbf16>, tensor<96x64x3x3xbf16>)
    outs(%s : tensor<32x96x30x32xf32>) -> tensor<32x96x30x32xf32>
  return %y : tensor<32x96x30x32xf32>
}

// -----

// Groups come before their channels; elements that are set apart are in the copy.

// CHECK-LABEL: func.func @groups(
// CHECK-SAME:    %[[X:.*]]: tensor<32x128x15x15xf16>
// CHECK:         %[[T:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<32x128x15x15xf16>) outs({{.*}} : tensor<32x15x15x128xf16>)
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK:         tensor.insert_slice %[[T]] into %[[Z]][0, 1, 1, 0] [32, 15, 15, 128] [1, 2, 2, 1]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2], [3, 4]] output_shape [32, 31, 31, 2, 64]
func.func @groups(%x: tensor<32x128x15x15xf16>, %k: tensor<2x48x64x3x3xf16>, %s: tensor<32x2x48x29x29xf32>) -> tensor<32x2x48x29x29xf32> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<32x128x31x31xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<32x128x31x31xf16>) -> tensor<32x128x31x31xf16>
  %a = tensor.insert_slice %x into %z[0, 0, 1, 1] [32, 128, 15, 15] [1, 1, 2, 2] : tensor<32x128x15x15xf16> into tensor<32x128x31x31xf16>
  %g = tensor.expand_shape %a [[0], [1, 2], [3], [4]] output_shape [32, 2, 64, 31, 31] : tensor<32x128x31x31xf16> into tensor<32x2x64x31x31xf16>
  %y = linalg.conv_2d_ngchw_gfchw ins(%g, %k : tensor<32x2x64x31x31xf16>, tensor<2x48x64x3x3xf16>)
    outs(%s : tensor<32x2x48x29x29xf32>) -> tensor<32x2x48x29x29xf32>
  return %y : tensor<32x2x48x29x29xf32>
}

// -----

// Elements of 32 bits, channels that are no multiple of 8 or open, and few products.

// CHECK-LABEL: func.func @wide(
// CHECK:         linalg.conv_2d_nchw_fchw
func.func @wide(%x: tensor<32x64x32x32xf32>, %k: tensor<96x64x3x3xf32>, %s: tensor<32x96x30x30xf32>) -> tensor<32x96x30x30xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<32x64x32x32xf32>, tensor<96x64x3x3xf32>)
    outs(%s : tensor<32x96x30x30xf32>) -> tensor<32x96x30x30xf32>
  return %y : tensor<32x96x30x30xf32>
}

// CHECK-LABEL: func.func @odd(
// CHECK-NOT:     tensor<32x32x32x60xbf16>
func.func @odd(%x: tensor<32x60x32x32xbf16>, %k: tensor<96x60x3x3xbf16>, %s: tensor<32x96x30x30xf32>) -> tensor<32x96x30x30xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<32x60x32x32xbf16>, tensor<96x60x3x3xbf16>)
    outs(%s : tensor<32x96x30x30xf32>) -> tensor<32x96x30x30xf32>
  return %y : tensor<32x96x30x30xf32>
}

// CHECK-LABEL: func.func @open(
// CHECK-NOT:     tensor<?x32x32x64xbf16>
func.func @open(%x: tensor<?x64x32x32xbf16>, %k: tensor<96x64x3x3xbf16>, %s: tensor<?x96x30x30xf32>) -> tensor<?x96x30x30xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<?x64x32x32xbf16>, tensor<96x64x3x3xbf16>)
    outs(%s : tensor<?x96x30x30xf32>) -> tensor<?x96x30x30xf32>
  return %y : tensor<?x96x30x30xf32>
}

// CHECK-LABEL: func.func @few(
// CHECK-NOT:     tensor<1x6x6x16xbf16>
func.func @few(%x: tensor<1x16x6x6xbf16>, %k: tensor<8x16x3x3xbf16>, %s: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x16x6x6xbf16>, tensor<8x16x3x3xbf16>)
    outs(%s : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// RUN: hirc-opt %s --split-input-file -p 'lay-channels-together{chips=sm_90a allow-tf32=true}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'lay-channels-together{chips=sm_90}' | FileCheck %s --check-prefix=THREADS

// Pixels of few channels lie in chunks of 16 bytes, which warpgroups read: in the image, before it is
// padded, and in the weights.

// CHECK-DAG:   #[[$CHUNKS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d2, d3)>
// CHECK-DAG:   #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d4, d2 + d5, d3 + d6, d7)>
// CHECK-DAG:   #[[$WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d4, d5, d6, d7)>
// CHECK-LABEL: func.func @chunks(
// CHECK-SAME:    %[[X:.*]]: tensor<8x16x224x224xbf16>, %[[K:.*]]: tensor<64x16x3x5xbf16>
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[X]] {{.*}} output_shape [8, 2, 8, 224, 224]
// CHECK:         %[[T:.*]] = linalg.generic {indexing_maps = [#[[$CHUNKS]], {{.*}} ins(%[[E]] :
// CHECK:         %[[P:.*]] = tensor.pad %[[T]] low[0, 0, 1, 2, 0] high[0, 0, 1, 2, 0]
// CHECK:         tensor<8x2x224x224x8xbf16> to tensor<8x2x226x228x8xbf16>
// CHECK:         %[[F:.*]] = tensor.expand_shape %[[K]] {{.*}} output_shape [64, 2, 8, 3, 5]
// CHECK:         %[[W:.*]] = linalg.generic {indexing_maps = [#[[$CHUNKS]], {{.*}} ins(%[[F]] :
// CHECK:         linalg.generic {indexing_maps = [#[[$IMAGE]], #[[$WEIGHTS]], {{.*}} ins(%[[P]], %[[W]] :
// THREADS-LABEL: func.func @chunks(
// THREADS-NOT:   x8xbf16>
// THREADS:       return
func.func @chunks(%x: tensor<8x16x224x224xbf16>, %k: tensor<64x16x3x5xbf16>, %s: tensor<8x64x224x224xf32>) -> tensor<8x64x224x224xf32> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 1, 2] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : bf16
  } : tensor<8x16x224x224xbf16> to tensor<8x16x226x228xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %k : tensor<8x16x226x228xbf16>, tensor<64x16x3x5xbf16>)
    outs(%s : tensor<8x64x224x224xf32>) -> tensor<8x64x224x224xf32>
  return %y : tensor<8x64x224x224xf32>
}

// -----

// A step divides the innermost dim, padding and all: even and odd columns. Channels that there are
// not are zeros, as is an eighth column of the window.

// CHECK-DAG:   #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d2 * 2 + d5, d6, d3 + d7, d4)>
// CHECK-DAG:   #[[$WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d5, d6, d7, d4)>
// CHECK-LABEL: func.func @picture(
// CHECK-SAME:    %[[X:.*]]: tensor<32x3x224x224xbf16>, %[[K:.*]]: tensor<64x3x7x7xbf16>
// CHECK:         %[[T:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<32x224x2x115x8xbf16>)
// CHECK:           tensor.extract %[[X]]
// CHECK:         %[[P:.*]] = tensor.pad %[[T]] low[0, 3, 0, 0, 0] high[0, 3, 0, 0, 0]
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<64x7x2x4x8xbf16>)
// CHECK:           tensor.extract %[[K]]
// CHECK:         linalg.generic {indexing_maps = [#[[$IMAGE]], #[[$WEIGHTS]], {{.*}} ins(%[[P]], %[[W]] :
func.func @picture(%x: tensor<32x3x224x224xbf16>, %k: tensor<64x3x7x7xbf16>, %s: tensor<32x64x112x112xf32>) -> tensor<32x64x112x112xf32> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 0, 3, 3] high[0, 0, 3, 3] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : bf16
  } : tensor<32x3x224x224xbf16> to tensor<32x3x230x230xbf16>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
    ins(%p, %k : tensor<32x3x230x230xbf16>, tensor<64x3x7x7xbf16>)
    outs(%s : tensor<32x64x112x112xf32>) -> tensor<32x64x112x112xf32>
  return %y : tensor<32x64x112x112xf32>
}

// -----

// What is not zero around an image is part of the copy.

// CHECK-LABEL: func.func @ones_around(
// CHECK:         %[[P:.*]] = tensor.pad %{{.*}} low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[P]]
// CHECK:         linalg.generic {{.*}} ins(%[[E]] : tensor<8x2x8x226x226xbf16>) outs({{.*}} : tensor<8x2x226x226x8xbf16>)
// CHECK-NOT:     tensor.pad
// CHECK:         return
func.func @ones_around(%x: tensor<8x16x224x224xbf16>, %k: tensor<64x16x3x3xbf16>, %s: tensor<8x64x224x224xf32>) -> tensor<8x64x224x224xf32> {
  %one = arith.constant 1.0 : bf16
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %one : bf16
  } : tensor<8x16x224x224xbf16> to tensor<8x16x226x226xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %k : tensor<8x16x226x226xbf16>, tensor<64x16x3x3xbf16>)
    outs(%s : tensor<8x64x224x224xf32>) -> tensor<8x64x224x224xf32>
  return %y : tensor<8x64x224x224xf32>
}

// -----

// Padding lies around groups of channels, too.

// CHECK-LABEL: func.func @groups(
// CHECK-SAME:    %[[X:.*]]: tensor<8x32x112x112xf16>
// CHECK:         %[[G:.*]] = tensor.expand_shape %[[X]] {{.*}} output_shape [8, 2, 16, 112, 112]
// CHECK:         linalg.generic {{.*}} outs({{.*}} : tensor<8x2x2x112x112x8xf16>)
// CHECK:         tensor.pad %{{.*}} low[0, 0, 0, 1, 1, 0] high[0, 0, 0, 1, 1, 0]
func.func @groups(%x: tensor<8x32x112x112xf16>, %k: tensor<2x48x16x3x3xf16>, %s: tensor<8x2x48x112x112xf32>) -> tensor<8x2x48x112x112xf32> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : f16
  } : tensor<8x32x112x112xf16> to tensor<8x32x114x114xf16>
  %g = tensor.expand_shape %p [[0], [1, 2], [3], [4]] output_shape [8, 2, 16, 114, 114] : tensor<8x32x114x114xf16> into tensor<8x2x16x114x114xf16>
  %y = linalg.conv_2d_ngchw_gfchw ins(%g, %k : tensor<8x2x16x114x114xf16>, tensor<2x48x16x3x3xf16>)
    outs(%s : tensor<8x2x48x112x112xf32>) -> tensor<8x2x48x112x112xf32>
  return %y : tensor<8x2x48x112x112xf32>
}

// -----

// f32 that may be rounded has four channels in a chunk.

// CHECK-LABEL: func.func @rounded(
// CHECK:         outs({{.*}} : tensor<4x4x226x226x4xf32>)
// CHECK:         outs({{.*}} : tensor<64x4x3x3x4xf32>)
func.func @rounded(%x: tensor<4x16x226x226xf32>, %k: tensor<64x16x3x3xf32>, %s: tensor<4x64x224x224xf32>) -> tensor<4x64x224x224xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<4x16x226x226xf32>, tensor<64x16x3x3xf32>)
    outs(%s : tensor<4x64x224x224xf32>) -> tensor<4x64x224x224xf32>
  return %y : tensor<4x64x224x224xf32>
}

// -----

// More channels than a step has terms lie in rows.

// CHECK-LABEL: func.func @many_channels(
// CHECK-NOT:     x8xbf16>
// CHECK:         outs({{.*}} : tensor<8x114x114x72xbf16>)
// CHECK-NOT:     x8xbf16>
// CHECK:         return
func.func @many_channels(%x: tensor<8x72x114x114xbf16>, %k: tensor<64x72x3x3xbf16>, %s: tensor<8x64x112x112xf32>) -> tensor<8x64x112x112xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<8x72x114x114xbf16>, tensor<64x72x3x3xbf16>)
    outs(%s : tensor<8x64x112x112xf32>) -> tensor<8x64x112x112xf32>
  return %y : tensor<8x64x112x112xf32>
}

// -----

// A dilation along an innermost dim with a step stays, unless they have a common factor.

// CHECK-LABEL: func.func @dilated(
// CHECK-NOT:     x8xbf16>
// CHECK:         return
func.func @dilated(%x: tensor<8x16x226x226xbf16>, %k: tensor<64x16x3x3xbf16>, %s: tensor<8x64x222x74xf32>) -> tensor<8x64x222x74xf32> {
  %y = linalg.conv_2d_nchw_fchw {strides = dense<[1, 3]> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>}
    ins(%x, %k : tensor<8x16x226x226xbf16>, tensor<64x16x3x3xbf16>)
    outs(%s : tensor<8x64x222x74xf32>) -> tensor<8x64x222x74xf32>
  return %y : tensor<8x64x222x74xf32>
}

// -----

// What reads every other column is a convolution in steps of one of these, the second one on where
// padding is odd; so of rows, which it reads in steps of 4, dilated by 2.

// CHECK:       #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d4, d2 * 2 + d5, d3 + d6, d7)>
// CHECK-LABEL: func.func @common(
// CHECK-SAME:    %[[X:.*]]: tensor<8x16x225x226xbf16>
// CHECK:         %[[E:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 1] [8, 16, 113, 113] [1, 1, 2, 2]
// CHECK:         linalg.generic {{.*}} outs({{.*}} : tensor<8x2x113x113x8xbf16>)
// CHECK:         %[[P:.*]] = tensor.pad %{{.*}} low[0, 0, 1, 2, 0] high[0, 0, 1, 0, 0]
// CHECK:         linalg.generic {indexing_maps = [#[[$IMAGE]], {{.*}} ins(%[[P]],
func.func @common(%x: tensor<8x16x225x226xbf16>, %k: tensor<64x16x3x3xbf16>, %s: tensor<8x64x57x113xf32>) -> tensor<8x64x57x113xf32> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 0, 2, 3] high[0, 0, 3, 1] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : bf16
  } : tensor<8x16x225x226xbf16> to tensor<8x16x230x230xbf16>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<[4, 2]> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>}
    ins(%p, %k : tensor<8x16x230x230xbf16>, tensor<64x16x3x3xbf16>)
    outs(%s : tensor<8x64x57x113xf32>) -> tensor<8x64x57x113xf32>
  return %y : tensor<8x64x57x113xf32>
}

// -----

// Windows of one row in steps read every other row alone.

// CHECK-LABEL: func.func @one_row(
// CHECK:         tensor.extract_slice %{{.*}}[0, 0, 0, 0] [8, 16, 112, 224] [1, 1, 2, 1]
// CHECK:         outs({{.*}} : tensor<8x2x112x224x8xbf16>)
func.func @one_row(%x: tensor<8x16x224x224xbf16>, %k: tensor<64x16x1x5xbf16>, %s: tensor<8x64x112x220xf32>) -> tensor<8x64x112x220xf32> {
  %y = linalg.conv_2d_nchw_fchw {strides = dense<[2, 1]> : tensor<2xi64>}
    ins(%x, %k : tensor<8x16x224x224xbf16>, tensor<64x16x1x5xbf16>)
    outs(%s : tensor<8x64x112x220xf32>) -> tensor<8x64x112x220xf32>
  return %y : tensor<8x64x112x220xf32>
}

// -----

// CHECK-LABEL: func.func @dilated_rows(
// CHECK:         outs({{.*}} : tensor<8x2x113x2x113x8xbf16>)
func.func @dilated_rows(%x: tensor<8x16x226x226xbf16>, %k: tensor<64x16x3x3xbf16>, %s: tensor<8x64x111x112xf32>) -> tensor<8x64x111x112xf32> {
  %y = linalg.conv_2d_nchw_fchw {strides = dense<[2, 2]> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>}
    ins(%x, %k : tensor<8x16x226x226xbf16>, tensor<64x16x3x3xbf16>)
    outs(%s : tensor<8x64x111x112xf32>) -> tensor<8x64x111x112xf32>
  return %y : tensor<8x64x111x112xf32>
}

// -----

// Of a dim of one place nothing is laid out: pixels lie along the other one.

// CHECK-LABEL: func.func @row_in_two_dims(
// CHECK:         outs({{.*}} : tensor<64x32x1x498x8xbf16>)
func.func @row_in_two_dims(%x: tensor<64x32x8x498x1xbf16>, %k: tensor<32x5x8x3x1xbf16>, %s: tensor<64x32x5x496x1xf32>) -> tensor<64x32x5x496x1xf32> {
  %y = linalg.conv_2d_ngchw_gfchw ins(%x, %k : tensor<64x32x8x498x1xbf16>, tensor<32x5x8x3x1xbf16>)
    outs(%s : tensor<64x32x5x496x1xf32>) -> tensor<64x32x5x496x1xf32>
  return %y : tensor<64x32x5x496x1xf32>
}

// -----

// One place is a product of matrices, and more places than a kernel multiplies in its code stay.

// CHECK-LABEL: func.func @one_place(
// CHECK-NOT:     x8xbf16>
// CHECK:         return
func.func @one_place(%x: tensor<8x16x224x224xbf16>, %k: tensor<64x16x1x1xbf16>, %s: tensor<8x64x224x224xf32>) -> tensor<8x64x224x224xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<8x16x224x224xbf16>, tensor<64x16x1x1xbf16>)
    outs(%s : tensor<8x64x224x224xf32>) -> tensor<8x64x224x224xf32>
  return %y : tensor<8x64x224x224xf32>
}

// -----

// CHECK-LABEL: func.func @many_places(
// CHECK-NOT:     x8xbf16>
// CHECK:         return
func.func @many_places(%x: tensor<8x16x224x224xbf16>, %k: tensor<64x16x9x9xbf16>, %s: tensor<8x64x216x216xf32>) -> tensor<8x64x216x216xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<8x16x224x224xbf16>, tensor<64x16x9x9xbf16>)
    outs(%s : tensor<8x64x216x216xf32>) -> tensor<8x64x216x216xf32>
  return %y : tensor<8x64x216x216xf32>
}

// -----

// Copies of a small image take longer than they save.

// CHECK-LABEL: func.func @small(
// CHECK-NOT:     x8xbf16>
// CHECK:         return
func.func @small(%x: tensor<1x16x10x10xbf16>, %k: tensor<8x16x3x3xbf16>, %s: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x16x10x10xbf16>, tensor<8x16x3x3xbf16>)
    outs(%s : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %y : tensor<1x8x8x8xf32>
}

// -----

// Windows beside one another in a row are a product of matrices.

// CHECK-LABEL: func.func @pieces(
// CHECK-NOT:     x8xbf16>
// CHECK:         return
func.func @pieces(%x: tensor<64x16x16384xbf16>, %k: tensor<64x16x4xbf16>, %s: tensor<64x64x4096xf32>) -> tensor<64x64x4096xf32> {
  %y = linalg.conv_1d_ncw_fcw {strides = dense<4> : tensor<1xi64>} ins(%x, %k : tensor<64x16x16384xbf16>, tensor<64x16x4xbf16>)
    outs(%s : tensor<64x64x4096xf32>) -> tensor<64x64x4096xf32>
  return %y : tensor<64x64x4096xf32>
}

// -----

// Images, groups and chunks are one dim where the copy engine takes no more.

// CHECK-DAG:   #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10) -> (d0 * 32 + d1 * 2 + d6, d3 + d7, d4 + d8, d5 + d9, d10)>
// CHECK-LABEL: func.func @deep_groups(
// CHECK:         %[[T:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<16x16x2x24x16x24x8xf16>)
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[T]] {{.*}} into tensor<512x24x16x24x8xf16>
// CHECK:         linalg.generic {indexing_maps = [#[[$IMAGE]], {{.*}} ins(%[[C]],
func.func @deep_groups(%x: tensor<16x16x10x24x16x24xf16>, %k: tensor<16x24x10x3x3x3xf16>, %s: tensor<16x16x24x22x14x22xf32>) -> tensor<16x16x24x22x14x22xf32> {
  %y = linalg.generic {indexing_maps = [
      affine_map<(b, g, f, d, h, w, c, i, j, k) -> (b, g, c, d + i, h + j, w + k)>,
      affine_map<(b, g, f, d, h, w, c, i, j, k) -> (g, f, c, i, j, k)>,
      affine_map<(b, g, f, d, h, w, c, i, j, k) -> (b, g, f, d, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %k : tensor<16x16x10x24x16x24xf16>, tensor<16x24x10x3x3x3xf16>)
      outs(%s : tensor<16x16x24x22x14x22xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %wa = arith.extf %a : f16 to f32
    %wb = arith.extf %b : f16 to f32
    %m = arith.mulf %wa, %wb : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<16x16x24x22x14x22xf32>
  return %y : tensor<16x16x24x22x14x22xf32>
}

// -----

// Tensor cores multiply no single column: nothing is copied for one filter, or one of each group.

// CHECK-LABEL: func.func @one_filter(
// CHECK-NOT:     tensor.expand_shape
// CHECK-NOT:     outs({{.*}}x8xbf16>)
// CHECK:         return
func.func @one_filter(%x: tensor<8x16x224x224xbf16>, %k: tensor<1x16x3x3xbf16>, %s: tensor<8x1x222x222xf32>) -> tensor<8x1x222x222xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<8x16x224x224xbf16>, tensor<1x16x3x3xbf16>)
    outs(%s : tensor<8x1x222x222xf32>) -> tensor<8x1x222x222xf32>
  return %y : tensor<8x1x222x222xf32>
}

// -----

// CHECK-LABEL: func.func @one_of_each(
// CHECK-NOT:     outs({{.*}}x16xbf16>)
// CHECK:         return
func.func @one_of_each(%x: tensor<8x4x16x224x224xbf16>, %k: tensor<4x1x16x3x3xbf16>, %s: tensor<8x4x1x222x222xf32>) -> tensor<8x4x1x222x222xf32> {
  %y = linalg.conv_2d_ngchw_gfchw ins(%x, %k : tensor<8x4x16x224x224xbf16>, tensor<4x1x16x3x3xbf16>)
    outs(%s : tensor<8x4x1x222x222xf32>) -> tensor<8x4x1x222x222xf32>
  return %y : tensor<8x4x1x222x222xf32>
}

// -----

// A copy takes channels that came last from there, and of every third row alone.

// CHECK-LABEL: func.func @last(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<8x264x400x32xbf16>
// CHECK:         linalg.generic {{.*}} outs({{.*}} : tensor<8x4x88x3x136x8xbf16>)
// CHECK:           %[[ROW:.*]] = linalg.index 2
// CHECK:           %[[THIRD:.*]] = arith.muli %[[ROW]], %{{.*}}
// CHECK:           tensor.extract %[[X]][%{{.*}}, %[[THIRD]], %{{.*}}, %{{.*}}]
func.func @last(%x: tensor<8x264x400x32xbf16>, %k: tensor<512x32x1x7xbf16>, %s: tensor<8x512x88x134xf32>) -> tensor<8x512x88x134xf32> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<8x32x264x400xbf16>
  %t = linalg.transpose ins(%x : tensor<8x264x400x32xbf16>) outs(%e : tensor<8x32x264x400xbf16>) permutation = [0, 3, 1, 2]
  %p = tensor.pad %t low[0, 0, 0, 3] high[0, 0, 0, 3] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : bf16
  } : tensor<8x32x264x400xbf16> to tensor<8x32x264x406xbf16>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<3> : tensor<2xi64>}
    ins(%p, %k : tensor<8x32x264x406xbf16>, tensor<512x32x1x7xbf16>)
    outs(%s : tensor<8x512x88x134xf32>) -> tensor<8x512x88x134xf32>
  return %y : tensor<8x512x88x134xf32>
}

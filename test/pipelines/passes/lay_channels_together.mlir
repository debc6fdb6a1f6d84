// RUN: hirc-opt %s --split-input-file -p lay-channels-together | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'lay-channels-together{chips=sm_90a allow-tf32=true}' | FileCheck %s --check-prefix=BOXES

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

// Groups of channels that are no multiple of 8 do not lie together with those of others, so that
// their rows may become wider: only a copy engine reads them so.

// CHECK-LABEL: func.func @odd_groups(
// CHECK-NOT:     tensor<32x31x31x2x60xf16>
// BOXES-LABEL: func.func @odd_groups(
// BOXES-SAME:    %[[X:.*]]: tensor<32x120x31x31xf16>
// BOXES:         %[[G:.*]] = tensor.expand_shape %[[X]]
// BOXES:         linalg.generic {{.*}} ins(%[[G]] : tensor<32x2x60x31x31xf16>) outs({{.*}} : tensor<32x31x31x2x60xf16>)
func.func @odd_groups(%x: tensor<32x120x31x31xf16>, %k: tensor<2x48x60x3x3xf16>, %s: tensor<32x2x48x29x29xf32>) -> tensor<32x2x48x29x29xf32> {
  %g = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape [32, 2, 60, 31, 31] : tensor<32x120x31x31xf16> into tensor<32x2x60x31x31xf16>
  %y = linalg.conv_2d_ngchw_gfchw ins(%g, %k : tensor<32x2x60x31x31xf16>, tensor<2x48x60x3x3xf16>)
    outs(%s : tensor<32x2x48x29x29xf32>) -> tensor<32x2x48x29x29xf32>
  return %y : tensor<32x2x48x29x29xf32>
}

// -----

// Threads read elements that are set apart, where these are multiples.

// BOXES-LABEL: func.func @odd_apart(
// BOXES-NOT:     tensor<32x15x15x60xf16>
// BOXES:         return
func.func @odd_apart(%x: tensor<32x60x15x15xf16>, %k: tensor<48x60x3x3xf16>, %s: tensor<32x48x29x29xf32>) -> tensor<32x48x29x29xf32> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<32x60x31x31xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<32x60x31x31xf16>) -> tensor<32x60x31x31xf16>
  %a = tensor.insert_slice %x into %z[0, 0, 1, 1] [32, 60, 15, 15] [1, 1, 2, 2] : tensor<32x60x15x15xf16> into tensor<32x60x31x31xf16>
  %y = linalg.conv_2d_nchw_fchw ins(%a, %k : tensor<32x60x31x31xf16>, tensor<48x60x3x3xf16>)
    outs(%s : tensor<32x48x29x29xf32>) -> tensor<32x48x29x29xf32>
  return %y : tensor<32x48x29x29xf32>
}

// -----

// Of three channels a step of terms, 64, has few: they lie in chunks (lay_in_chunks.mlir).

// BOXES-LABEL: func.func @three(
// BOXES-NOT:     tensor<32x224x224x3xbf16>
// BOXES:         return
func.func @three(%x: tensor<32x3x224x224xbf16>, %k: tensor<64x3x7x7xbf16>, %s: tensor<32x64x218x218xf32>) -> tensor<32x64x218x218xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<32x3x224x224xbf16>, tensor<64x3x7x7xbf16>)
    outs(%s : tensor<32x64x218x218xf32>) -> tensor<32x64x218x218xf32>
  return %y : tensor<32x64x218x218xf32>
}

// -----

// Rows of 16 channels take the copy engine longer than those of 64: threads would read them together,
// but boxes are what such rows are read in. Of 78 channels rows are long enough. In f32 36 are, as
// ordinary cores would multiply them: of 16, 256 filters of 3x1 took 440 us so, and take 384 on
// copies with channels last. Up to 32 may lie in chunks.

// CHECK-LABEL: func.func @short_rows(
// CHECK:         outs({{.*}} : tensor<64x104x116x16xbf16>)
// BOXES-LABEL: func.func @short_rows(
// BOXES-NOT:     tensor<64x104x116x16xbf16>
// BOXES-LABEL: func.func @short_rows_f32(
// BOXES:         outs({{.*}} : tensor<64x104x116x36xf32>)
// BOXES-LABEL: func.func @long_rows(
// BOXES:         outs({{.*}} : tensor<32x84x68x78xf32>)
func.func @short_rows(%x: tensor<64x16x104x116xbf16>, %k: tensor<256x16x3x1xbf16>, %s: tensor<64x256x102x116xf32>) -> tensor<64x256x102x116xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<64x16x104x116xbf16>, tensor<256x16x3x1xbf16>)
    outs(%s : tensor<64x256x102x116xf32>) -> tensor<64x256x102x116xf32>
  return %y : tensor<64x256x102x116xf32>
}
func.func @short_rows_f32(%x: tensor<64x36x104x116xf32>, %k: tensor<256x36x3x1xf32>, %s: tensor<64x256x102x116xf32>) -> tensor<64x256x102x116xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<64x36x104x116xf32>, tensor<256x36x3x1xf32>)
    outs(%s : tensor<64x256x102x116xf32>) -> tensor<64x256x102x116xf32>
  return %y : tensor<64x256x102x116xf32>
}
func.func @long_rows(%x: tensor<32x78x84x68xf32>, %k: tensor<96x78x5x5xf32>, %s: tensor<32x96x80x64xf32>) -> tensor<32x96x80x64xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<32x78x84x68xf32>, tensor<96x78x5x5xf32>)
    outs(%s : tensor<32x96x80x64xf32>) -> tensor<32x96x80x64xf32>
  return %y : tensor<32x96x80x64xf32>
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
// CHECK-NOT:     tensor<32x32x32x68xbf16>
// BOXES-LABEL: func.func @odd(
// BOXES:         outs({{.*}} : tensor<32x32x32x68xbf16>)
// BOXES:         outs({{.*}} : tensor<96x3x3x68xbf16>)
func.func @odd(%x: tensor<32x68x32x32xbf16>, %k: tensor<96x68x3x3xbf16>, %s: tensor<32x96x30x30xf32>) -> tensor<32x96x30x30xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<32x68x32x32xbf16>, tensor<96x68x3x3xbf16>)
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

// -----

// What had channels last before it was transposed is read as it was.

// CHECK-LABEL: func.func @undone(
// CHECK-SAME:    %[[X:.*]]: tensor<32x30x30x64xbf16>, %[[K:.*]]: tensor<96x64x3x3xbf16>
// CHECK:         %[[P:.*]] = tensor.pad %[[X]] low[0, 1, 2, 0] high[0, 1, 2, 0]
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%[[K]] :
// CHECK:         linalg.generic {{.*}} ins(%[[P]], %[[W]] :
func.func @undone(%x: tensor<32x30x30x64xbf16>, %k: tensor<96x64x3x3xbf16>, %s: tensor<32x96x30x32xf32>) -> tensor<32x96x30x32xf32> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<32x64x30x30xbf16>
  %t = linalg.transpose ins(%x : tensor<32x30x30x64xbf16>) outs(%e : tensor<32x64x30x30xbf16>) permutation = [0, 3, 1, 2]
  %p = tensor.pad %t low[0, 0, 1, 2] high[0, 0, 1, 2] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : bf16
  } : tensor<32x64x30x30xbf16> to tensor<32x64x32x34xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %k : tensor<32x64x32x34xbf16>, tensor<96x64x3x3xbf16>)
    outs(%s : tensor<32x96x30x32xf32>) -> tensor<32x96x30x32xf32>
  return %y : tensor<32x96x30x32xf32>
}

// -----

// Another order than that is copied.

// CHECK-LABEL: func.func @turned(
// CHECK:         %[[T:.*]] = linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%[[T]] : tensor<32x64x30x30xbf16>)
func.func @turned(%x: tensor<32x30x64x30xbf16>, %k: tensor<96x64x3x3xbf16>, %s: tensor<32x96x28x28xf32>) -> tensor<32x96x28x28xf32> {
  %e = tensor.empty() : tensor<32x64x30x30xbf16>
  %t = linalg.transpose ins(%x : tensor<32x30x64x30xbf16>) outs(%e : tensor<32x64x30x30xbf16>) permutation = [0, 2, 1, 3]
  %y = linalg.conv_2d_nchw_fchw ins(%t, %k : tensor<32x64x30x30xbf16>, tensor<96x64x3x3xbf16>)
    outs(%s : tensor<32x96x28x28xf32>) -> tensor<32x96x28x28xf32>
  return %y : tensor<32x96x28x28xf32>
}

// -----

// Padding that differs from place to place is no copy's.

// CHECK-LABEL: func.func @padded_by_places(
// CHECK:         %[[P:.*]] = tensor.pad
// CHECK:           tensor.yield
// CHECK:         linalg.generic {{.*}} ins(%[[P]] : tensor<16x64x58x58xbf16>) outs(%{{.*}} : tensor<16x58x58x64xbf16>)
func.func @padded_by_places(%x: tensor<16x64x56x56xbf16>, %k: tensor<128x64x3x3xbf16>, %s: tensor<16x128x56x56xf32>) -> tensor<16x128x56x56xf32> {
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    %i = arith.index_cast %b : index to i32
    %f = arith.sitofp %i : i32 to bf16
    tensor.yield %f : bf16
  } : tensor<16x64x56x56xbf16> to tensor<16x64x58x58xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %k : tensor<16x64x58x58xbf16>, tensor<128x64x3x3xbf16>)
    outs(%s : tensor<16x128x56x56xf32>) -> tensor<16x128x56x56xf32>
  return %y : tensor<16x128x56x56xf32>
}

// -----

// Where each result reads one place, threads copy pairs of places as they lie: planes of an even
// number of them, though no row is a multiple of 16 bytes. Planes of an odd number are copied one by
// one, or transposed.

// BOXES-LABEL: func.func @pairs(
// BOXES-NOT:     tensor<2x221x222x192xbf16>
// BOXES:         return
// BOXES-LABEL: func.func @odd_planes(
// BOXES:         outs({{.*}} : tensor<2x221x221x192xbf16>)
func.func @pairs(%x: tensor<2x192x221x222xbf16>, %k: tensor<16x192x1x1xbf16>, %s: tensor<2x16x221x222xf32>) -> tensor<2x16x221x222xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<2x192x221x222xbf16>, tensor<16x192x1x1xbf16>)
    outs(%s : tensor<2x16x221x222xf32>) -> tensor<2x16x221x222xf32>
  return %y : tensor<2x16x221x222xf32>
}
func.func @odd_planes(%x: tensor<2x192x221x221xbf16>, %k: tensor<16x192x1x1xbf16>, %s: tensor<2x16x221x221xf32>) -> tensor<2x16x221x221xf32> {
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<2x192x221x221xbf16>, tensor<16x192x1x1xbf16>)
    outs(%s : tensor<2x16x221x221xf32>) -> tensor<2x16x221x221xf32>
  return %y : tensor<2x16x221x221xf32>
}

// RUN: hirc-opt %s -p read-products-in-place'{kernel-multiplications=1000}',resolve-shaped-type-result-dims,func.func'(canonicalize)' | FileCheck %s

// Transposes, and repetitions along dims that the other operand has, are read as they lie.

// CHECK-DAG:   #[[FIRST:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[WEIGHT:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG:   #[[RESULT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG:   #[[SHARED:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    %[[X:.*]]: tensor<64x64xf32>, %[[W:.*]]: tensor<64x64xf32>, %[[Y:.*]]: tensor<64x64xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {indexing_maps = [#[[FIRST]], #[[WEIGHT]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[W]] : {{.*}}) outs(%[[Y]] :
func.func @transposed(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = linalg.transpose ins(%w : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<64x64xf32>, tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @repeated(
// CHECK-NOT:     linalg.broadcast
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[SHARED]], #{{.*}}]
func.func @repeated(%x: tensor<4x64x64xf32>, %w: tensor<64x64xf32>, %y: tensor<4x64x64xf32>) -> tensor<4x64x64xf32> {
  %e = tensor.empty() : tensor<4x64x64xf32>
  %t = linalg.broadcast ins(%w : tensor<64x64xf32>) outs(%e : tensor<4x64x64xf32>) dimensions = [0]
  %r = linalg.batch_matmul ins(%x, %t : tensor<4x64x64xf32>, tensor<4x64x64xf32>) outs(%y : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  return %r : tensor<4x64x64xf32>
}

// A small product keeps its copy, and so does one whose sum would then be over one operand alone.

// CHECK-LABEL: func.func @small(
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
func.func @small(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<8x8xf32>, tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @summed_alone(
// CHECK:         linalg.broadcast
// CHECK:         linalg.matmul
func.func @summed_alone(%x: tensor<64x64xf32>, %w: tensor<64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = linalg.broadcast ins(%w : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [0]
  %r = linalg.matmul ins(%x, %t : tensor<64x64xf32>, tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Heads that lie side by side are read, and written, where they lie: one call of the library has all
// of a sequence. Sizes may be open.

// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[V:.*]]: tensor<1x64x4x32xf32>, %[[W:.*]]: tensor<4x64x64xf32>,
// CHECK-NOT:     linalg.transpose ins(%[[V]]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[W]], %[[V]] : tensor<4x64x64xf32>, tensor<1x64x4x32xf32>)
func.func @heads(%v: tensor<1x64x4x32xf32>, %w: tensor<4x64x64xf32>, %y: tensor<4x64x32xf32>) -> tensor<4x64x32xf32> {
  %e = tensor.empty() : tensor<1x4x64x32xf32>
  %t = linalg.transpose ins(%v : tensor<1x64x4x32xf32>) outs(%e : tensor<1x4x64x32xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<1x4x64x32xf32> into tensor<4x64x32xf32>
  %r = linalg.batch_matmul ins(%w, %c : tensor<4x64x64xf32>, tensor<4x64x32xf32>) outs(%y : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %r : tensor<4x64x32xf32>
}

// CHECK-LABEL: func.func @open_heads(
// CHECK-SAME:    %[[V:.*]]: tensor<?x64x4x32xf32>,
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[V]] : tensor<?x4x64x64xf32>, tensor<?x64x4x32xf32>)
func.func @open_heads(%v: tensor<?x64x4x32xf32>, %w: tensor<?x64x64xf32>, %y: tensor<?x64x32xf32>, %n: index) -> tensor<?x64x32xf32> {
  %e = tensor.empty(%n) : tensor<?x4x64x32xf32>
  %t = linalg.transpose ins(%v : tensor<?x64x4x32xf32>) outs(%e : tensor<?x4x64x32xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<?x4x64x32xf32> into tensor<?x64x32xf32>
  %r = linalg.batch_matmul ins(%w, %c : tensor<?x64x64xf32>, tensor<?x64x32xf32>) outs(%y : tensor<?x64x32xf32>) -> tensor<?x64x32xf32>
  return %r : tensor<?x64x32xf32>
}

// Small heads of many sequences would be many calls, which take longer than the copy.

// CHECK-LABEL: func.func @many_sequences(
// CHECK:         linalg.transpose
// CHECK:         linalg.batch_matmul
func.func @many_sequences(%v: tensor<16x64x16x32xf32>, %w: tensor<256x64x64xf32>, %y: tensor<256x64x32xf32>) -> tensor<256x64x32xf32> {
  %e = tensor.empty() : tensor<16x16x64x32xf32>
  %t = linalg.transpose ins(%v : tensor<16x64x16x32xf32>) outs(%e : tensor<16x16x64x32xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<16x16x64x32xf32> into tensor<256x64x32xf32>
  %r = linalg.batch_matmul ins(%w, %c : tensor<256x64x64xf32>, tensor<256x64x32xf32>) outs(%y : tensor<256x64x32xf32>) -> tensor<256x64x32xf32>
  return %r : tensor<256x64x32xf32>
}

// So is what the library has no strides for: heads whose elements are apart,

// CHECK-LABEL: func.func @apart(
// CHECK:         linalg.transpose
// CHECK:         linalg.batch_matmul
func.func @apart(%v: tensor<1x64x32x4xf32>, %w: tensor<4x64x64xf32>, %y: tensor<4x64x32xf32>) -> tensor<4x64x32xf32> {
  %e = tensor.empty() : tensor<1x4x64x32xf32>
  %t = linalg.transpose ins(%v : tensor<1x64x32x4xf32>) outs(%e : tensor<1x4x64x32xf32>) permutation = [0, 3, 1, 2]
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<1x4x64x32xf32> into tensor<4x64x32xf32>
  %r = linalg.batch_matmul ins(%w, %c : tensor<4x64x64xf32>, tensor<4x64x32xf32>) outs(%y : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %r : tensor<4x64x32xf32>
}

// and sums over two dims that are not one in memory.

// CHECK-LABEL: func.func @summed_heads(
// CHECK:         linalg.transpose
// CHECK:         linalg.matmul
func.func @summed_heads(%v: tensor<4x64x32xf32>, %w: tensor<128x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x4x32xf32>
  %t = linalg.transpose ins(%v : tensor<4x64x32xf32>) outs(%e : tensor<64x4x32xf32>) permutation = [1, 0, 2]
  %c = tensor.collapse_shape %t [[0], [1, 2]] : tensor<64x4x32xf32> into tensor<64x128xf32>
  %r = linalg.matmul ins(%c, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// A copy that something else reads too is there anyway, and is read.

// CHECK-LABEL: func.func @read_twice(
// CHECK:         %[[T:.*]] = linalg.transpose
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[T]]
// CHECK:         linalg.batch_matmul ins(%{{.*}}, %[[C]] :
func.func @read_twice(%v: tensor<1x64x4x32xf32>, %w: tensor<4x64x64xf32>, %y: tensor<4x64x32xf32>) -> (tensor<4x64x32xf32>, tensor<1x4x64x32xf32>) {
  %e = tensor.empty() : tensor<1x4x64x32xf32>
  %t = linalg.transpose ins(%v : tensor<1x64x4x32xf32>) outs(%e : tensor<1x4x64x32xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<1x4x64x32xf32> into tensor<4x64x32xf32>
  %r = linalg.batch_matmul ins(%w, %c : tensor<4x64x64xf32>, tensor<4x64x32xf32>) outs(%y : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %r, %t : tensor<4x64x32xf32>, tensor<1x4x64x32xf32>
}

// What rounds the result does so in the dims of the product; a bias is added in those it had.

// CHECK-LABEL: func.func @rounded_heads(
// CHECK-SAME:    %[[V:.*]]: tensor<2x64x4x32xf32>,
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[V]] :
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<2x4x64x32xf32>) outs(%{{.*}} : tensor<2x4x64x32xf16>)
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[R]]
// CHECK:         return %[[C]]
func.func @rounded_heads(%v: tensor<2x64x4x32xf32>, %w: tensor<8x64x64xf32>, %y: tensor<8x64x32xf32>) -> tensor<8x64x32xf16> {
  %e = tensor.empty() : tensor<2x4x64x32xf32>
  %t = linalg.transpose ins(%v : tensor<2x64x4x32xf32>) outs(%e : tensor<2x4x64x32xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x4x64x32xf32> into tensor<8x64x32xf32>
  %p = linalg.batch_matmul ins(%w, %c : tensor<8x64x64xf32>, tensor<8x64x32xf32>) outs(%y : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  %f = tensor.empty() : tensor<8x64x32xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<8x64x32xf32>) outs(%f : tensor<8x64x32xf16>) {
  ^bb0(%a: f32, %o: f16):
    %n = arith.truncf %a : f32 to f16
    linalg.yield %n : f16
  } -> tensor<8x64x32xf16>
  return %r : tensor<8x64x32xf16>
}

// CHECK-LABEL: func.func @biased_heads(
// CHECK:         linalg.transpose
// CHECK:         linalg.batch_matmul
func.func @biased_heads(%v: tensor<1x64x4x32xf32>, %w: tensor<4x64x64xf32>, %y: tensor<4x64x32xf32>, %b: tensor<32xf32>) -> tensor<4x64x32xf32> {
  %e = tensor.empty() : tensor<1x4x64x32xf32>
  %t = linalg.transpose ins(%v : tensor<1x64x4x32xf32>) outs(%e : tensor<1x4x64x32xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<1x4x64x32xf32> into tensor<4x64x32xf32>
  %p = linalg.batch_matmul ins(%w, %c : tensor<4x64x64xf32>, tensor<4x64x32xf32>) outs(%y : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %b : tensor<4x64x32xf32>, tensor<32xf32>) outs(%y : tensor<4x64x32xf32>) {
  ^bb0(%a: f32, %u: f32, %o: f32):
    %n = arith.addf %a, %u : f32
    linalg.yield %n : f32
  } -> tensor<4x64x32xf32>
  return %r : tensor<4x64x32xf32>
}

// RUN: hirc-opt %s --write-returned-shapes | FileCheck %s

#rows = affine_map<(a, b, c, k) -> (a, b, c, k)>
#result = affine_map<(a, b, c, k) -> (a, b, c)>

// CHECK-LABEL: func.func @collapsed(
// CHECK:         %[[WHOLE:.*]] = tensor.empty() : tensor<4x64xf32>
// CHECK:         %[[ROOM:.*]] = tensor.expand_shape %[[WHOLE]] {{\[\[}}0], [1, 2]] output_shape [4, 8, 8]
// CHECK:         linalg.generic {{.*}} outs(%[[ROOM]] : tensor<4x8x8xf32>)
func.func @collapsed(%x: tensor<4x8x8x16xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#rows, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x8x8x16xf32>) outs(%e : tensor<4x8x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = "hir.reduce_loops"(%v) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4x8x8xf32>
  %r = tensor.collapse_shape %y [[0], [1, 2]] : tensor<4x8x8xf32> into tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// What is read in its own shape too has memory of that.

// CHECK-LABEL: func.func @read(
// CHECK-NOT:     tensor.expand_shape
func.func @read(%x: tensor<4x8x8x16xf32>) -> (tensor<4x64xf32>, tensor<4x8x8xf32>) {
  %e = tensor.empty() : tensor<4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#rows, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x8x8x16xf32>) outs(%e : tensor<4x8x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = "hir.reduce_loops"(%v) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4x8x8xf32>
  %r = tensor.collapse_shape %y [[0], [1, 2]] : tensor<4x8x8xf32> into tensor<4x64xf32>
  return %r, %y : tensor<4x64xf32>, tensor<4x8x8xf32>
}

// What a result begins with is kept.

// CHECK-LABEL: func.func @begun(
// CHECK-NOT:     tensor.expand_shape
func.func @begun(%x: tensor<4x8x8x16xf32>, %b: tensor<4x8x8xf32>) -> tensor<4x64xf32> {
  %y = linalg.generic {indexing_maps = [#rows, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x8x8x16xf32>) outs(%b : tensor<4x8x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x8x8xf32>
  %r = tensor.collapse_shape %y [[0], [1, 2]] : tensor<4x8x8xf32> into tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// RUN: hirc-opt %s -p narrow-product-operands,func.func'(canonicalize,cse)' | FileCheck %s

// What is extended to f32 for a product is read as it was, from behind what moves its elements.

#same = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xbf16>, %[[W:.*]]: tensor<4x8xbf16>, %[[Z:.*]]: tensor<?x4xf32>,
// CHECK-NOT:     f32{{.*}}linalg.transpose
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[W]] : tensor<4x8xbf16>) outs(%{{.*}} : tensor<8x4xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[T]] : tensor<?x8xbf16>, tensor<8x4xbf16>) outs(%[[Z]] :
// CHECK-DAG:       %[[A:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK-DAG:       %[[B:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK:           %[[P:.*]] = arith.mulf %[[A]], %[[B]] : f32
// CHECK:           arith.addf %{{.*}}, %[[P]] : f32
func.func @layer(%x: tensor<?x8xbf16>, %w: tensor<4x8xbf16>, %z: tensor<?x4xf32>, %xe: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %we = tensor.empty() : tensor<4x8xf32>
  %xf = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xbf16>) outs(%xe : tensor<?x8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %e = arith.extf %in : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<?x8xf32>
  %wf = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<4x8xbf16>) outs(%we : tensor<4x8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %e = arith.extf %in : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<4x8xf32>
  %te = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%wf : tensor<4x8xf32>) outs(%te : tensor<8x4xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%xf, %t : tensor<?x8xf32>, tensor<8x4xf32>) outs(%z : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// Batches of open sizes, behind reshapes; sizes of what is not written are those of the f32 tensor.

// CHECK-LABEL: func.func @batches(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x3x?x8xf16>
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[X]] {{.*}} : tensor<?x3x?x8xf16> into tensor<?x?x8xf16>
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[C]] : tensor<?x?x8xf16>)
// CHECK:         linalg.generic {{.*}} ins(%[[C]], %[[T]] : tensor<?x?x8xf16>, tensor<?x8x?xf16>)
func.func @batches(%x: tensor<?x3x?x8xf16>, %xe: tensor<?x3x?x8xf32>, %te: tensor<?x8x?xf32>, %z: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %f = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<?x3x?x8xf16>) outs(%xe : tensor<?x3x?x8xf32>) {
  ^bb0(%in: f16, %out: f32):
    %e = arith.extf %in : f16 to f32
    linalg.yield %e : f32
  } -> tensor<?x3x?x8xf32>
  %c = tensor.collapse_shape %f [[0, 1], [2], [3]] : tensor<?x3x?x8xf32> into tensor<?x?x8xf32>
  %t = linalg.transpose ins(%c : tensor<?x?x8xf32>) outs(%te : tensor<?x8x?xf32>) permutation = [0, 2, 1]
  %y = linalg.batch_matmul ins(%c, %t : tensor<?x?x8xf32>, tensor<?x8x?xf32>) outs(%z : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// Near misses: one operand alone is extended, they are of two types, elements are computed with,
// or the product is in f64, which is more exact.

// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: linalg.matmul ins({{.*}} : tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK:         linalg.matmul ins({{.*}} : tensor<8x8xf64>, tensor<8x8xf64>)
func.func @others(%b: tensor<8x8xbf16>, %h: tensor<8x8xf16>, %s: tensor<8x8xf32>, %d: tensor<8x8xf64>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf64>) {
  %bf = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<8x8xbf16>) outs(%s : tensor<8x8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %e = arith.extf %in : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  %hf = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<8x8xf16>) outs(%s : tensor<8x8xf32>) {
  ^bb0(%in: f16, %out: f32):
    %e = arith.extf %in : f16 to f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  %n = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<8x8xbf16>) outs(%s : tensor<8x8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %e = arith.extf %in : bf16 to f32
    %m = arith.negf %e : f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>
  %bd = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<8x8xbf16>) outs(%d : tensor<8x8xf64>) {
  ^bb0(%in: bf16, %out: f64):
    %e = arith.extf %in : bf16 to f64
    linalg.yield %e : f64
  } -> tensor<8x8xf64>
  %1 = linalg.matmul ins(%bf, %s : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = linalg.matmul ins(%bf, %hf : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = linalg.matmul ins(%bf, %n : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = linalg.matmul ins(%bd, %bd : tensor<8x8xf64>, tensor<8x8xf64>) outs(%d : tensor<8x8xf64>) -> tensor<8x8xf64>
  return %1, %2, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf64>
}

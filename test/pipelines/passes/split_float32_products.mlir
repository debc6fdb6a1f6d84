// RUN: hirc-opt %s -p 'split-float32-products,func.func(canonicalize,cse)' | FileCheck %s

// What is small is added first, to zeros; it counts where it is finite.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: (%[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<8x4xf32>, %[[C:.*]]: tensor<?x4xf32>)
// CHECK: %[[X:.*]]:2 = linalg.generic {{.*}} ins(%[[A]] : tensor<?x8xf32>) outs({{.*}} : tensor<?x8xbf16>, tensor<?x8xbf16>)
// CHECK: %[[Y:.*]]:2 = linalg.generic {{.*}} ins(%[[B]] : tensor<8x4xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]]#1, %[[Y]]#0 : tensor<?x8xbf16>, tensor<8x4xbf16>)
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]]#0, %[[Y]]#1 : {{.*}}) outs(%[[R]] :
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[C]] :
// CHECK:   arith.cmpf olt
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]]#0, %[[Y]]#0 : {{.*}}) outs(%[[T]] :
// CHECK: return %[[P]]
func.func @matmul(%a: tensor<?x8xf32>, %b: tensor<8x4xf32>, %c: tensor<?x4xf32>) -> tensor<?x4xf32>
    attributes {hir.program} {
  %y = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%c : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// Of an operand that was bf16 nothing is left over.
// CHECK-LABEL: func.func @half
// CHECK-SAME: (%[[A:.*]]: tensor<2x8xbf16>, %[[B:.*]]: tensor<8x4xf32>
// CHECK: %[[Y:.*]]:2 = linalg.generic {{.*}} ins(%[[B]] : tensor<8x4xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[Y]]#1 :
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[Y]]#0 :
// CHECK-NOT: linalg.generic
func.func @half(%h: tensor<2x8xbf16>, %b: tensor<8x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32>
    attributes {hir.program} {
  %e = tensor.empty() : tensor<2x8xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%h : tensor<2x8xbf16>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %w = arith.extf %in : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<2x8xf32>
  %y = linalg.matmul ins(%a, %b : tensor<2x8xf32>, tensor<8x4xf32>) outs(%c : tensor<2x4xf32>)
      -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Products of f64, and of integers, are left.
// CHECK-LABEL: func.func @others
// CHECK: linalg.matmul {{.*}}f64
// CHECK: linalg.matmul {{.*}}i32
func.func @others(%a: tensor<2x8xf64>, %b: tensor<8x4xf64>, %c: tensor<2x4xf64>, %i: tensor<2x8xi32>,
    %j: tensor<8x4xi32>, %k: tensor<2x4xi32>) -> (tensor<2x4xf64>, tensor<2x4xi32>)
    attributes {hir.program} {
  %y = linalg.matmul ins(%a, %b : tensor<2x8xf64>, tensor<8x4xf64>) outs(%c : tensor<2x4xf64>)
      -> tensor<2x4xf64>
  %z = linalg.matmul ins(%i, %j : tensor<2x8xi32>, tensor<8x4xi32>) outs(%k : tensor<2x4xi32>)
      -> tensor<2x4xi32>
  return %y, %z : tensor<2x4xf64>, tensor<2x4xi32>
}

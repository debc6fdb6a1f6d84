// RUN: hirc-opt %s --separate-starts | FileCheck %s

// CHECK-LABEL: func.func @vectors
// CHECK:         %[[E:.*]] = tensor.empty(%arg2)
// CHECK:         %[[Z:.*]] = linalg.fill {{.*}} outs(%[[E]] :
// CHECK-NEXT:    %[[A:.*]] = linalg.matvec {{.*}} outs(%[[Z]] :
// CHECK-NEXT:    %[[F:.*]] = tensor.empty(%arg2)
// CHECK-NEXT:    %[[Y:.*]] = linalg.fill {{.*}} outs(%[[F]] :
// CHECK-NEXT:    %[[B:.*]] = linalg.matvec {{.*}} outs(%[[Y]] :
// What is filled as a part of something else stays shared.
// CHECK-NEXT:    linalg.add {{.*}} outs(%arg1 :
// CHECK-NEXT:    linalg.add {{.*}} outs(%arg1 :
// CHECK:         scf.for
// CHECK-NEXT:      %[[G:.*]] = tensor.empty(%arg2)
// CHECK-NEXT:      linalg.exp {{.*}} outs(%[[G]] :
func.func @vectors(%m: tensor<?x?xf32>, %v: tensor<?xf32>, %n: index, %i: index)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) attributes {hir.program} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %a = linalg.matvec ins(%m, %v : tensor<?x?xf32>, tensor<?xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.matvec ins(%m, %a : tensor<?x?xf32>, tensor<?xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  %c = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%v : tensor<?xf32>) -> tensor<?xf32>
  %d = linalg.add ins(%b, %a : tensor<?xf32>, tensor<?xf32>) outs(%v : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %k = %i to %n step %i iter_args(%x = %c) -> tensor<?xf32> {
    %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %d, %r, %a : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// Without iterations an output that is not read stays as it began: as what is given, or a constant.
// CHECK-LABEL: func.func @idle
// CHECK:         %[[C:.*]] = arith.constant dense<3.0
// CHECK:         %[[S:.*]] = bufferization.alloc_tensor() copy(%[[C]]) : tensor<f32>
// CHECK:         linalg.generic {{.*}} outs(%[[S]] : tensor<f32>)
// It is read, it has iterations for certain, or its loops are those of the output.
// CHECK-NOT:     alloc_tensor
// CHECK:         linalg.generic {{.*}} outs(%[[C]] : tensor<f32>)
// CHECK-NOT:     alloc_tensor
// CHECK:         linalg.generic {{.*}} outs(%[[C]] : tensor<f32>)
// CHECK-NOT:     alloc_tensor
// CHECK:         linalg.generic {{.*}} outs(%arg0 : tensor<?xf32>)
#all = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
func.func @idle(%x: tensor<?xf32>, %y: tensor<4xf32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<?xf32>) attributes {hir.program} {
  %c = arith.constant dense<3.0> : tensor<f32>
  %a = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<f32>
  %b = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %d = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]}
      ins(%y : tensor<4xf32>) outs(%c : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<f32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?xf32>
  return %a, %b, %d, %e : tensor<f32>, tensor<f32>, tensor<f32>, tensor<?xf32>
}

// Nor is an empty tensor copied that the output is in another shape.
// CHECK-LABEL: func.func @reshaped
// CHECK-NOT:     alloc_tensor
// CHECK:         return
func.func @reshaped(%x: tensor<?x4xf32>) -> tensor<2x2xf32> attributes {hir.program} {
  %e = tensor.empty() : tensor<2x2xf32>
  %c = tensor.collapse_shape %e [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%c : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  %r = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// RUN: hirc-opt %s -p reshape-idle-transposes,func.func'(canonicalize,cse)' | FileCheck %s

// A transpose that moves dims of one element alone is a reshape, whichever sizes are open.

// CHECK-LABEL: func.func @one_token(
// CHECK-SAME:    %[[X:.*]]: tensor<2x1x12x64xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2], [3]] : tensor<2x1x12x64xf32> into tensor<2x12x64xf32>
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[C]] {{\[\[}}0], [1, 2], [3]] output_shape [2, 12, 1, 64]
// CHECK:         return %[[E]]
func.func @one_token(%x: tensor<2x1x12x64xf32>) -> tensor<2x12x1x64xf32> {
  %e = tensor.empty() : tensor<2x12x1x64xf32>
  %t = linalg.transpose ins(%x : tensor<2x1x12x64xf32>) outs(%e : tensor<2x12x1x64xf32>) permutation = [0, 2, 1, 3]
  return %t : tensor<2x12x1x64xf32>
}

// CHECK-LABEL: func.func @row(
// CHECK-NOT:     linalg.transpose
// CHECK:         tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : tensor<1x?x1xf32> into tensor<?xf32>
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2]] output_shape [%{{.*}}, 1, 1]
func.func @row(%x: tensor<1x?x1xf32>, %n: index) -> tensor<?x1x1xf32> {
  %e = tensor.empty(%n) : tensor<?x1x1xf32>
  %t = linalg.transpose ins(%x : tensor<1x?x1xf32>) outs(%e : tensor<?x1x1xf32>) permutation = [1, 0, 2]
  return %t : tensor<?x1x1xf32>
}

// Others stay: one that moves elements, and one of which nothing is known.

// CHECK-LABEL: func.func @moved(
// CHECK:         linalg.transpose
func.func @moved(%x: tensor<2x1x12x64xf32>) -> tensor<12x1x2x64xf32> {
  %e = tensor.empty() : tensor<12x1x2x64xf32>
  %t = linalg.transpose ins(%x : tensor<2x1x12x64xf32>) outs(%e : tensor<12x1x2x64xf32>) permutation = [2, 1, 0, 3]
  return %t : tensor<12x1x2x64xf32>
}

// CHECK-LABEL: func.func @open(
// CHECK:         linalg.transpose
func.func @open(%x: tensor<2x?x12xf32>, %n: index) -> tensor<2x12x?xf32> {
  %e = tensor.empty(%n) : tensor<2x12x?xf32>
  %t = linalg.transpose ins(%x : tensor<2x?x12xf32>) outs(%e : tensor<2x12x?xf32>) permutation = [0, 2, 1]
  return %t : tensor<2x12x?xf32>
}

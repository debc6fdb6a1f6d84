// RUN: hirc-opt %s -p read-products-in-place'{kernel-multiplications=1000}',func.func'(canonicalize)' | FileCheck %s

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

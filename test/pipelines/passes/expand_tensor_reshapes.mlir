// RUN: hirc-opt %s --split-input-file -p 'expand-tensor-reshapes' | FileCheck %s

// CHECK-LABEL: func.func @sizes
// CHECK: cf.assert %{{.*}}, "tensor.reshape: size 0 is not the 4 that its type says"
// CHECK: cf.assert %{{.*}}, "tensor.reshape: the sizes are not of as many elements as the tensor has"
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<?x6xf32> into tensor<?xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1]] output_shape [4, %arg1] : tensor<?xf32> into tensor<4x?xf32>
func.func @sizes(%x: tensor<?x6xf32>, %n: index) -> tensor<4x?xf32> {
  %c4 = arith.constant 4 : index
  %s = tensor.from_elements %c4, %n : tensor<2xindex>
  %y = tensor.reshape %x(%s) : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// -----

// Other tensors of sizes are read.
// CHECK-LABEL: func.func @read
// CHECK: %[[SIZE:.*]] = tensor.extract %arg1[%{{.*}}] : tensor<1xi32>
// CHECK: arith.index_cast %[[SIZE]] : i32 to index
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<2x3xf32> into tensor<6xf32>
// CHECK: tensor.cast %{{.*}} : tensor<6xf32> to tensor<?xf32>
func.func @read(%x: tensor<2x3xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
  %y = tensor.reshape %x(%s) : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A tensor collapsed to a dim of no elements is an empty one, whose type says so.
// CHECK-LABEL: func.func @empty(
// CHECK: %[[N:.*]] = arith.muli
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[N]]) : tensor<0x?xf32>
// CHECK: tensor.cast %[[EMPTY]] : tensor<0x?xf32> to tensor<?x?xf32>
func.func @empty(%x: tensor<?x0x?x4xf32>) -> tensor<?x?xf32> {
  %y = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<?x0x?x4xf32> into tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

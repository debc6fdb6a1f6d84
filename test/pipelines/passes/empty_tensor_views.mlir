// RUN: hirc-opt %s --split-input-file -p 'empty-tensor-views' | FileCheck %s

// CHECK-LABEL: func.func @collapse
// CHECK:       %[[ROWS:.*]] = tensor.dim %arg0, %{{.*}} : tensor<?x0x4xf32>
// CHECK:       %[[PART:.*]] = arith.muli %{{.*}}, %[[ROWS]]
// CHECK:       %[[SIZE:.*]] = arith.muli %[[PART]], %c0
// CHECK:       %[[Y:.*]] = tensor.empty(%[[SIZE]]) : tensor<?x4xf32>
// CHECK-NEXT:  return %[[Y]]
func.func @collapse(%x: tensor<?x0x4xf32>) -> tensor<?x4xf32> {
  %y = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x0x4xf32> into tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @expand
// CHECK-NEXT:  %[[Y:.*]] = tensor.empty(%arg1) : tensor<0x?xf32>
// CHECK-NEXT:  return %[[Y]]
func.func @expand(%x: tensor<?xf32>, %n: index) -> tensor<0x?xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [0, %n] : tensor<?xf32> into tensor<0x?xf32>
  return %y : tensor<0x?xf32>
}

// -----

// CHECK-LABEL: func.func @with_elements
// CHECK-NEXT:  tensor.collapse_shape
func.func @with_elements(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  return %y : tensor<?xf32>
}

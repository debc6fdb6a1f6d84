// RUN: hirc-opt %s -p 'convert-concat-to-linalg,func.func(canonicalize,cse)' | FileCheck %s

// Sizes that types leave open are checked, and elements are picked from the last tensor to the first.

// CHECK-LABEL: func.func @two(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>, %[[Y:.*]]: tensor<?x5xf32>)
// CHECK:         %[[WIDTH:.*]] = tensor.dim %[[X]], %c1
// CHECK:         %[[ALL:.*]] = arith.addi %[[WIDTH]], %c5
// CHECK:         %[[SAME:.*]] = arith.cmpi eq
// CHECK:         cf.assert %[[SAME]], "dim 0 of all tensors of tensor.concat must have the same size"
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%{{.*}}, %[[ALL]])
// CHECK:         %[[Z:.*]] = linalg.generic {{.*}} outs(%[[EMPTY]] : tensor<?x?xf32>) {
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[PLACE:.*]] = arith.subi %[[J]], %[[WIDTH]]
// CHECK:           %[[IS_Y:.*]] = arith.cmpi ult, %[[PLACE]], %c5
// CHECK:           %[[LAST:.*]] = scf.if %[[IS_Y]]
// CHECK:             tensor.extract %[[Y]][%[[I]], %[[PLACE]]]
// CHECK:           %[[IS_X:.*]] = arith.cmpi ult, %[[J]], %[[WIDTH]]
// CHECK:           %[[ELEMENT:.*]] = scf.if %[[IS_X]]
// CHECK:             tensor.extract %[[X]][%[[I]], %[[J]]]
// CHECK:           } else {
// CHECK-NEXT:        scf.yield %[[LAST]]
// CHECK:           linalg.yield %[[ELEMENT]]
// CHECK:         return %[[Z]]
func.func @two(%x: tensor<?x?xf32>, %y: tensor<?x5xf32>) -> tensor<?x?xf32> {
  %z = tensor.concat dim(1) %x, %y : (tensor<?x?xf32>, tensor<?x5xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @many(
// CHECK:         tensor.concat
func.func @many(%x: tensor<2xf32>) -> tensor<18xf32> {
  %z = tensor.concat dim(0) %x, %x, %x, %x, %x, %x, %x, %x, %x
    : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
       tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<18xf32>
  return %z : tensor<18xf32>
}

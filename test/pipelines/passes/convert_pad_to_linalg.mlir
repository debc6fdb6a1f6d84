// RUN: hirc-opt %s -p 'convert-pad-to-linalg,func.func(canonicalize,cse)' | FileCheck %s

// CHECK-LABEL: func.func @sides(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32>, %[[L:.*]]: index, %[[V:.*]]: f32)
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK:         %[[LOW:.*]] = arith.addi %[[L]], %[[N]]
// CHECK:         %[[ROWS:.*]] = arith.addi %[[LOW]], %c3
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x10xf32>
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} outs(%[[EMPTY]] : tensor<?x10xf32>) {
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[ROW:.*]] = arith.subi %[[I]], %[[L]]
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[COLUMN:.*]] = arith.subi %[[J]], %c2
// CHECK:           arith.cmpi ult, %[[ROW]], %[[N]]
// CHECK:           arith.cmpi ult, %[[COLUMN]], %c8
// CHECK:           %[[E:.*]] = scf.if
// CHECK:             tensor.extract %[[X]][%[[ROW]], %[[COLUMN]]]
// CHECK:           } else {
// CHECK-NEXT:        scf.yield %[[V]]
// CHECK:           linalg.yield %[[E]]
// CHECK:         return %[[Y]]
func.func @sides(%x: tensor<?x8xf32>, %l: index, %v: f32) -> tensor<?x10xf32> {
  %y = tensor.pad %x low[%l, 2] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x8xf32> to tensor<?x10xf32>
  return %y : tensor<?x10xf32>
}

// CHECK-LABEL: func.func @by_place(
// CHECK:         tensor.pad
func.func @by_place(%x: tensor<8xindex>) -> tensor<10xindex> {
  %y = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<8xindex> to tensor<10xindex>
  return %y : tensor<10xindex>
}

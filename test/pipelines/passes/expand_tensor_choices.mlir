// RUN: hirc-opt %s -p 'expand-tensor-choices' | FileCheck %s

// CHECK-LABEL: func.func @choose
// CHECK-SAME:  (%[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>, %[[C:.*]]: i1
// CHECK-NEXT:  %[[Z:.*]] = scf.if %[[C]] -> (tensor<?xf32>) {
// CHECK-NEXT:    scf.yield %[[X]] : tensor<?xf32>
// CHECK-NEXT:  } else {
// CHECK-NEXT:    scf.yield %[[Y]] : tensor<?xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  %[[W:.*]] = arith.select %{{.*}}, %[[Z]], %[[Y]] : tensor<?xi1>, tensor<?xf32>
// CHECK-NEXT:  %[[N:.*]] = arith.select %[[C]]
// CHECK-NEXT:  return %[[W]], %[[N]]
func.func @choose(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: i1, %each: tensor<?xi1>, %n: index)
    -> (tensor<?xf32>, index) {
  %z = arith.select %c, %x, %y : tensor<?xf32>
  %w = arith.select %each, %z, %y : tensor<?xi1>, tensor<?xf32>
  %m = arith.select %c, %n, %n : index
  return %w, %m : tensor<?xf32>, index
}

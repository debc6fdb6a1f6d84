// RUN: hirc-opt %s -p convert-sort-to-linalg,func.func'(canonicalize,cse)' | FileCheck %s

// Runs of twice the length are made in each step; five elements take three. Equal ones keep their
// order, and a nan comes after all numbers.

// CHECK-LABEL: func.func @ascending(
// CHECK-SAME:    %[[X:.*]]: tensor<5xf32>, %[[I:.*]]: tensor<5xi64>)
// CHECK:         scf.for %[[STEP:.*]] = %c0 to %c3 step %c1 iter_args(%[[P:.*]] = %[[X]], %[[Q:.*]] = %[[I]])
// CHECK:           %[[LENGTH:.*]] = arith.shli %c1, %[[STEP]]
// CHECK:           %[[R:.*]]:2 = linalg.generic {{.*}} ins(%[[P]], %[[Q]] :
// CHECK:             scf.for
// CHECK:               %[[OTHER:.*]] = tensor.extract %[[P]]
// CHECK:               arith.cmpf olt
// CHECK:               arith.cmpf uno
// CHECK-COUNT-2:     "hir.scatter"
// CHECK:           scf.yield %[[R]]#0, %[[R]]#1
func.func @ascending(%x: tensor<5xf32>, %i: tensor<5xi64>) -> (tensor<5xf32>, tensor<5xi64>) {
  %r:2 = tm_tensor.sort dimension(0) outs(%x, %i : tensor<5xf32>, tensor<5xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %p = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %p : i1
  } -> tensor<5xf32>, tensor<5xi64>
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xi64>
}

// Along any dim of open size, one tensor alone; true is greater than false.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: tensor<4x?xi1>)
// CHECK:         tensor.dim %[[X]], %c1
// CHECK:         scf.for
// CHECK:           tensor.empty(%{{.*}}) : tensor<4x?xi1>
// CHECK:           arith.cmpi ugt, %{{.*}}, %{{.*}} : i1
// CHECK:           "hir.scatter"
func.func @rows(%x: tensor<4x?xi1>) -> tensor<4x?xi1> {
  %r = tm_tensor.sort dimension(1) outs(%x : tensor<4x?xi1>) {
  ^bb0(%a: i1, %b: i1):
    %p = arith.cmpi sge, %a, %b : i1
    tm_tensor.yield %p : i1
  } -> tensor<4x?xi1>
  return %r : tensor<4x?xi1>
}

// RUN: hirc-opt %s -p drop-idle-loops | FileCheck %s

// The reduction of what is yielded was folded away; the index names the loop by its new number.

// CHECK-DAG: #[[NONE:.*]] = affine_map<() -> ()>
// CHECK-DAG: #[[ONE:.*]] = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @nothing_left(
// CHECK:         linalg.generic {indexing_maps = [#[[NONE]]], iterator_types = []} outs(
// CHECK-NEXT:    ^bb0(%{{.*}}: i64):
// CHECK-NEXT:      linalg.yield
func.func @nothing_left(%x: tensor<?xi64>) -> tensor<i64> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<i64>
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%x : tensor<?xi64>) outs(%e : tensor<i64>) {
  ^bb0(%a: i64, %o: i64):
    linalg.yield %zero : i64
  } -> tensor<i64>
  return %z : tensor<i64>
}

// CHECK-LABEL: func.func @a_loop_left(
// CHECK-SAME:    %{{.*}}: tensor<?x?xindex>, %[[Y:.*]]: tensor<?xindex>
// CHECK:         linalg.generic {indexing_maps = [#[[ONE]], #[[ONE]]], iterator_types = ["parallel"]} ins(%[[Y]] :
// CHECK:           linalg.index 0
func.func @a_loop_left(%x: tensor<?x?xindex>, %y: tensor<?xindex>) -> tensor<?xindex> {
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>],
                       iterator_types = ["reduction", "parallel"]}
      ins(%x, %y : tensor<?x?xindex>, tensor<?xindex>) outs(%y : tensor<?xindex>) {
  ^bb0(%a: index, %b: index, %o: index):
    %i = linalg.index 1 : index
    %s = arith.addi %b, %i : index
    linalg.yield %s : index
  } -> tensor<?xindex>
  return %z : tensor<?xindex>
}

// What reduces stays, in either form.

// CHECK-LABEL: func.func @reductions(
// CHECK-COUNT-2: iterator_types = ["reduction"]
func.func @reductions(%x: tensor<?xi64>, %e: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%x : tensor<?xi64>) outs(%e : tensor<i64>) {
  ^bb0(%a: i64, %o: i64):
    %s = "hir.reduce_loops"(%a) {kind = "addi", loops = array<i64: 0>} : (i64) -> i64
    linalg.yield %s : i64
  } -> tensor<i64>
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%x : tensor<?xi64>) outs(%e : tensor<i64>) {
  ^bb0(%a: i64, %o: i64):
    %s = arith.addi %a, %o : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  return %y, %z : tensor<i64>, tensor<i64>
}

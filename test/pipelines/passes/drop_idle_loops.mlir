// RUN: hirc-opt %s -p drop-idle-loops | FileCheck %s

// The reduction of what is yielded was folded away; the index names the loop by its new number.

// CHECK-DAG: #[[NONE:.*]] = affine_map<() -> ()>
// CHECK-DAG: #[[ONE:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[TWO:.*]] = affine_map<(d0, d1) -> (d0, d1)>

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

// A result that the loop is not for is an operation of its own; what is left goes over elements.

// CHECK-LABEL: func.func @two_ranks(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xi64>, %[[Y:.*]]: tensor<?xi64>, %[[D:.*]]: tensor<?xi64>, %[[E:.*]]: tensor<?x?xi64>)
// CHECK:         %[[WHOLE:.*]]:2 = linalg.generic {indexing_maps = [#[[TWO]], #[[TWO]], #[[TWO]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]] : {{.*}} outs(%[[E]], %[[E]] :
// CHECK-NEXT:    ^bb0(%[[A:.*]]: i64, %{{.*}}: i64, %{{.*}}: i64):
// CHECK-NEXT:      cf.assert
// CHECK-NEXT:      %[[S:.*]] = arith.addi %[[A]], %[[A]]
// CHECK-NEXT:      linalg.yield %[[S]], %[[A]] :
// CHECK:         %[[ROWS:.*]] = linalg.generic {indexing_maps = [#[[ONE]], #[[ONE]]], iterator_types = ["parallel"]} ins(%[[Y]] : {{.*}} outs(%[[D]] :
// CHECK-NEXT:    ^bb0(%[[B:.*]]: i64, %{{.*}}: i64):
// CHECK-NEXT:      linalg.yield %[[B]] :
// CHECK:         return %[[WHOLE]]#0, %[[ROWS]], %[[WHOLE]]#1 :
func.func @two_ranks(%x: tensor<?x?xi64>, %y: tensor<?xi64>, %d: tensor<?xi64>, %e: tensor<?x?xi64>)
    -> (tensor<?x?xi64>, tensor<?xi64>, tensor<?x?xi64>) {
  %true = arith.constant true
  %z:3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
                                          affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
                                          affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xi64>, tensor<?xi64>)
      outs(%e, %d, %e : tensor<?x?xi64>, tensor<?xi64>, tensor<?x?xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64, %p: i64, %q: i64):
    cf.assert %true, "always"
    %s = arith.addi %a, %a : i64
    linalg.yield %s, %b, %a : i64, i64, i64
  } -> (tensor<?x?xi64>, tensor<?xi64>, tensor<?x?xi64>)
  return %z#0, %z#1, %z#2 : tensor<?x?xi64>, tensor<?xi64>, tensor<?x?xi64>
}

// CHECK-LABEL: func.func @beside_a_scan(
// CHECK:         iterator_types = ["parallel", "reduction"]
// CHECK-NEXT:    ^bb0(%[[A:.*]]: i64, %{{.*}}: i64):
// CHECK-NEXT:      %[[S:.*]] = "hir.scan_loop"(%[[A]])
// CHECK-NEXT:      linalg.yield %[[S]] :
// CHECK:         linalg.generic {indexing_maps = [#[[ONE]]], iterator_types = ["parallel"]} outs(
// CHECK-NEXT:    ^bb0(%{{.*}}: i64):
// CHECK-NEXT:      linalg.yield
func.func @beside_a_scan(%x: tensor<?x?xi64>, %d: tensor<?xi64>) -> (tensor<?x?xi64>, tensor<?xi64>) {
  %zero = arith.constant 0 : i64
  %z:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>,
                                          affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi64>) outs(%x, %d : tensor<?x?xi64>, tensor<?xi64>) {
  ^bb0(%a: i64, %o: i64, %p: i64):
    %s = "hir.scan_loop"(%a) {kind = "addi", loop = 1} : (i64) -> i64
    linalg.yield %s, %zero : i64, i64
  } -> (tensor<?x?xi64>, tensor<?xi64>)
  return %z#0, %z#1 : tensor<?x?xi64>, tensor<?xi64>
}

// The rows' result is written beside the reduction; the last element of each row is what it says.

// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-2: iterator_types = ["parallel", "reduction"]
func.func @stays(%x: tensor<?x?xi64>, %d: tensor<?xi64>) -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {
  %zero = arith.constant 0 : i64
  %z:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
                                          affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi64>) outs(%d, %d : tensor<?xi64>, tensor<?xi64>) {
  ^bb0(%a: i64, %o: i64, %p: i64):
    %s = "hir.reduce_loops"(%a) {kind = "addi", loops = array<i64: 1>} : (i64) -> i64
    linalg.yield %s, %zero : i64, i64
  } -> (tensor<?xi64>, tensor<?xi64>)
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi64>) outs(%d : tensor<?xi64>) {
  ^bb0(%a: i64, %o: i64):
    linalg.yield %a : i64
  } -> tensor<?xi64>
  return %z#0, %z#1, %y : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
}

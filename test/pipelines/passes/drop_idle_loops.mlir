// RUN: hirc-opt %s -p drop-idle-loops | FileCheck %s

#scalar = affine_map<(d0) -> ()>
#one = affine_map<(d0) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>

// CHECK-DAG: #[[NONE:.*]] = affine_map<() -> ()>
// CHECK-DAG: #[[ONE:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @nothing_left(
// CHECK:         linalg.generic {indexing_maps = [#[[NONE]]], iterator_types = []} outs(
// CHECK-NEXT:    ^bb0(%{{.*}}: i64):
// CHECK-NEXT:      linalg.yield
func.func @nothing_left(%x: tensor<?xi64>) -> tensor<i64> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<i64>
  %z = linalg.generic {indexing_maps = [#one, #scalar], iterator_types = ["reduction"]}
      ins(%x : tensor<?xi64>) outs(%e : tensor<i64>) attrs = {hir.collective} {
  ^bb0(%a: i64, %o: i64):
    linalg.yield %zero : i64
  } -> tensor<i64>
  return %z : tensor<i64>
}

// The index names the loop by its new number.

// CHECK-LABEL: func.func @a_loop_left(
// CHECK-SAME:    %{{.*}}: tensor<?x?xindex>, %[[Y:.*]]: tensor<?xindex>
// CHECK:         linalg.generic {indexing_maps = [#[[ONE]], #[[ONE]]], iterator_types = ["parallel"]} ins(%[[Y]] :
// CHECK:           linalg.index 0
func.func @a_loop_left(%x: tensor<?x?xindex>, %y: tensor<?xindex>) -> tensor<?xindex> {
  %z = linalg.generic {indexing_maps = [#all, #columns, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x, %y : tensor<?x?xindex>, tensor<?xindex>) outs(%y : tensor<?xindex>) attrs = {hir.collective} {
  ^bb0(%a: index, %b: index, %o: index):
    %i = linalg.index 1 : index
    %s = arith.addi %b, %i : index
    linalg.yield %s : index
  } -> tensor<?xindex>
  return %z : tensor<?xindex>
}

// Results of rows and of elements come of operations of their own, with the assertions on either;
// one that nothing uses comes of none.

// CHECK-LABEL: func.func @rows_and_elements(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xindex>, %[[Y:.*]]: tensor<?xindex>, %[[D:.*]]: tensor<?xindex>, %[[E:.*]]: tensor<?x?xindex>)
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#[[ONE]], #[[ONE]]], iterator_types = ["parallel"]} ins(%[[Y]] : {{.*}}) outs(%[[D]] :
// CHECK-NEXT:    ^bb0(%[[B:.*]]: index, %{{.*}}: index):
// CHECK-NEXT:      %[[OK:.*]] = arith.cmpi slt, %[[B]]
// CHECK-NEXT:      cf.assert %[[OK]], "rows"
// CHECK-NEXT:      linalg.yield %[[B]] :
// CHECK:         %[[A:.*]]:2 = linalg.generic {indexing_maps = [#[[ALL]], #[[ALL]], #[[ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]] : {{.*}}) outs(%[[E]], %[[E]] :
// CHECK-NEXT:    ^bb0(%[[P:.*]]: index, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:      %[[J:.*]] = linalg.index 1
// CHECK-NEXT:      %[[OK:.*]] = arith.cmpi slt, %[[J]]
// CHECK-NEXT:      cf.assert %[[OK]], "columns"
// CHECK-NEXT:      %[[S:.*]] = arith.addi %[[P]], %[[P]]
// CHECK-NEXT:      linalg.yield %[[S]], %[[P]] :
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[A]]#0, %[[R]], %[[A]]#1 :
func.func @rows_and_elements(%x: tensor<?x?xindex>, %y: tensor<?xindex>, %d: tensor<?xindex>, %e: tensor<?x?xindex>)
    -> (tensor<?x?xindex>, tensor<?xindex>, tensor<?x?xindex>) {
  %nine = arith.constant 9 : index
  %z:4 = linalg.generic {indexing_maps = [#all, #rows, #all, #rows, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xindex>, tensor<?xindex>)
      outs(%e, %d, %e, %d : tensor<?x?xindex>, tensor<?xindex>, tensor<?x?xindex>, tensor<?xindex>)
      attrs = {hir.collective} {
  ^bb0(%a: index, %b: index, %o: index, %p: index, %q: index, %r: index):
    %j = linalg.index 1 : index
    %few = arith.cmpi slt, %j, %nine : index
    cf.assert %few, "columns"
    %ok = arith.cmpi slt, %b, %nine : index
    cf.assert %ok, "rows"
    %s = arith.addi %a, %a : index
    linalg.yield %s, %b, %a, %nine : index, index, index, index
  } -> (tensor<?x?xindex>, tensor<?xindex>, tensor<?x?xindex>, tensor<?xindex>)
  return %z#0, %z#1, %z#2 : tensor<?x?xindex>, tensor<?xindex>, tensor<?x?xindex>
}

// An assertion on elements, of which none is a result, stays where it was; that on rows does not.

// CHECK-LABEL: func.func @elements_stay(
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#[[ONE]], #[[ONE]]], iterator_types = ["parallel"]}
// CHECK:           cf.assert %{{.*}}, "rows"
// CHECK:         linalg.generic {indexing_maps = [#[[ALL]], #[[ROWS]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]}
// CHECK-NOT:       "rows"
// CHECK:           cf.assert %{{.*}}, "elements"
// CHECK:         return %[[R]] :
func.func @elements_stay(%x: tensor<?x?xi64>, %y: tensor<?xi64>, %d: tensor<?xi64>) -> tensor<?xi64> {
  %nine = arith.constant 9 : i64
  %z = linalg.generic {indexing_maps = [#all, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xi64>, tensor<?xi64>) outs(%d : tensor<?xi64>) attrs = {hir.collective} {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %ok = arith.cmpi slt, %b, %nine : i64
    cf.assert %ok, "rows"
    %few = arith.cmpi slt, %a, %nine : i64
    cf.assert %few, "elements"
    linalg.yield %b : i64
  } -> tensor<?xi64>
  return %z : tensor<?xi64>
}

// What has collective operations stays, whatever else is beside them; the mark goes.

// CHECK-LABEL: func.func @collective(
// CHECK-COUNT-2: indexing_maps = [#[[ALL]], #[[ALL]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]} ins({{.*}}) outs({{.*}}>) {
func.func @collective(%x: tensor<?x?xi64>, %d: tensor<?xi64>)
    -> (tensor<?x?xi64>, tensor<?xi64>, tensor<?x?xi64>, tensor<?xi64>) {
  %zero = arith.constant 0 : i64
  %y:2 = linalg.generic {indexing_maps = [#all, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi64>) outs(%x, %d : tensor<?x?xi64>, tensor<?xi64>) attrs = {hir.collective} {
  ^bb0(%a: i64, %o: i64, %p: i64):
    %s = "hir.reduce_loops"(%a) {kind = "addi", loops = array<i64: 1>} : (i64) -> i64
    linalg.yield %s, %zero : i64, i64
  } -> (tensor<?x?xi64>, tensor<?xi64>)
  %z:2 = linalg.generic {indexing_maps = [#all, #all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi64>) outs(%x, %d : tensor<?x?xi64>, tensor<?xi64>) attrs = {hir.collective} {
  ^bb0(%a: i64, %o: i64, %p: i64):
    %s = "hir.scan_loop"(%a) {kind = "addi", loop = 1} : (i64) -> i64
    linalg.yield %s, %zero : i64, i64
  } -> (tensor<?x?xi64>, tensor<?xi64>)
  return %y#0, %y#1, %z#0, %z#1 : tensor<?x?xi64>, tensor<?xi64>, tensor<?x?xi64>, tensor<?xi64>
}

// So does what never had any: without iterations, its results are what they begin as.

// CHECK-LABEL: func.func @the_last_iteration(
// CHECK:         indexing_maps = [#[[ALL]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]
func.func @the_last_iteration(%x: tensor<?x?xi64>, %d: tensor<?xi64>) -> tensor<?xi64> {
  %zero = arith.constant 0 : i64
  %z = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi64>) outs(%d : tensor<?xi64>) {
  ^bb0(%a: i64, %o: i64):
    linalg.yield %zero : i64
  } -> tensor<?xi64>
  return %z : tensor<?xi64>
}

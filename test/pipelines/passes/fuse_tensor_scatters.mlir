// RUN: hirc-opt %s --split-input-file --normalize-tensor-operations --canonicalize --cse --fuse-tensor-operations --canonicalize --cse | FileCheck %s

// What is made for a scatter alone is computed where it is read; that a loop's index is within what
// has as many places is not asserted.

// CHECK-LABEL: func.func @made(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<9x8xf32>, %[[I:[^:]*]]: tensor<5xi64>, %[[U:[^:]*]]: tensor<5x8xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%[[X]] : tensor<9x8xf32>)
// CHECK-DAG:       arith.extf
// CHECK-DAG:       arith.select
// CHECK:           cf.assert %{{.*}}, "rows"
// CHECK-NOT:       cf.assert
// CHECK:           "hir.scatter"
// CHECK-NOT:     linalg.generic
func.func @made(%x: tensor<9x8xf32>, %i: tensor<5xi64>, %u: tensor<5x8xbf16>) -> tensor<9x8xf32> {
  %zero = arith.constant 0 : i64
  %nine = arith.constant 9 : i64
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %ei = tensor.empty() : tensor<5xi64>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%i : tensor<5xi64>) outs(%ei : tensor<5xi64>) {
  ^bb0(%a: i64, %b: i64):
    %below = arith.cmpi slt, %a, %zero : i64
    %more = arith.addi %a, %nine : i64
    %r = arith.select %below, %more, %a : i64
    linalg.yield %r : i64
  } -> tensor<5xi64>
  %ej = tensor.empty() : tensor<5x8xi64>
  %j = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ej : tensor<5x8xi64>) {
  ^bb0(%b: i64):
    %k = linalg.index 1 : index
    %r = arith.index_cast %k : index to i64
    linalg.yield %r : i64
  } -> tensor<5x8xi64>
  %eu = tensor.empty() : tensor<5x8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%u : tensor<5x8xbf16>) outs(%eu : tensor<5x8xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %r = arith.extf %a : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<5x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, 0)>],
      iterator_types = ["parallel", "parallel"]} ins(%w, %p, %j : tensor<5x8xf32>, tensor<5xi64>, tensor<5x8xi64>) outs(%x : tensor<9x8xf32>) {
  ^bb0(%a: f32, %q: i64, %c: i64, %there: f32):
    %row = arith.index_cast %q : i64 to index
    %column = arith.index_cast %c : i64 to index
    %rows = arith.cmpi ult, %row, %c9 : index
    cf.assert %rows, "rows"
    %columns = arith.cmpi ult, %column, %c8 : index
    cf.assert %columns, "columns"
    %r = "hir.scatter"(%there, %a, %row, %column) {kind = "addf"} : (f32, f32, index, index) -> f32
    linalg.yield %r : f32
  } -> tensor<9x8xf32>
  return %y : tensor<9x8xf32>
}

// -----

// Not what others read too, nor costly work that each column would repeat.

// CHECK-LABEL: func.func @apart(
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK:         linalg.generic
// CHECK:           arith.addf
// CHECK:         linalg.generic
// CHECK-NOT:       math.exp
// CHECK:           "hir.scatter"
// CHECK-NOT:     linalg.generic
func.func @apart(%x: tensor<9x8xf32>, %i: tensor<5xi64>, %u: tensor<5xf32>, %v: tensor<5x8xf32>) -> (tensor<9x8xf32>, tensor<5x8xf32>) {
  %eu = tensor.empty() : tensor<5xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%u : tensor<5xf32>) outs(%eu : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %ev = tensor.empty() : tensor<5x8xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<5x8xf32>) outs(%ev : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<5x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (0, 0)>],
      iterator_types = ["parallel", "parallel"]} ins(%w, %z, %i : tensor<5xf32>, tensor<5x8xf32>, tensor<5xi64>) outs(%x : tensor<9x8xf32>) {
  ^bb0(%a: f32, %c: f32, %q: i64, %there: f32):
    %row = arith.index_cast %q : i64 to index
    %column = linalg.index 1 : index
    %s = arith.addf %a, %c : f32
    %r = "hir.scatter"(%there, %s, %row, %column) {kind = "addf"} : (f32, f32, index, index) -> f32
    linalg.yield %r : f32
  } -> tensor<9x8xf32>
  return %y, %z : tensor<9x8xf32>, tensor<5x8xf32>
}

// -----

// Where nothing is read along a loop, an empty tensor has its extent. That a loop's index is within
// what has the loop's size is not asserted, where that is open; within others it is.

// CHECK-LABEL: func.func @filled(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x?xf32> {{.*}}, %[[I:[^:]*]]: tensor<?xi64>
// CHECK:         %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?xi8>
// CHECK:         linalg.generic {{.*}} ins(%[[E]], %[[I]] : tensor<?xi8>, tensor<?xi64>) outs(%[[X]] : tensor<?x?xf32>)
// CHECK:           cf.assert %{{.*}}, "rows"
// CHECK-NOT:       cf.assert
// CHECK:           "hir.scatter"
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<?xf32>)
// CHECK:           cf.assert %{{.*}}, "others"
// CHECK-NOT:     linalg.generic
func.func @filled(%x: tensor<?x?xf32> {hir.sizes = ["n", "m"]}, %i: tensor<?xi64>, %z: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %k = tensor.dim %i, %c0 : tensor<?xi64>
  %others = tensor.dim %z, %c0 : tensor<?xf32>
  %ej = tensor.empty(%k, %m) : tensor<?x?xi64>
  %j = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ej : tensor<?x?xi64>) {
  ^bb0(%b: i64):
    %l = linalg.index 1 : index
    %r = arith.index_cast %l : index to i64
    linalg.yield %r : i64
  } -> tensor<?x?xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, 0)>],
      iterator_types = ["parallel", "parallel"]} ins(%i, %j : tensor<?xi64>, tensor<?x?xi64>) outs(%x : tensor<?x?xf32>) {
  ^bb0(%q: i64, %c: i64, %there: f32):
    %row = arith.index_cast %q : i64 to index
    %column = arith.index_cast %c : i64 to index
    %rows = arith.cmpi ult, %row, %n : index
    cf.assert %rows, "rows"
    %columns = arith.cmpi ult, %column, %m : index
    cf.assert %columns, "columns"
    %r = "hir.scatter"(%there, %one, %row, %column) : (f32, f32, index, index) -> f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %ev = tensor.empty(%k) : tensor<?xi64>
  %v = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%ev : tensor<?xi64>) {
  ^bb0(%b: i64):
    %l = linalg.index 0 : index
    %r = arith.index_cast %l : index to i64
    linalg.yield %r : i64
  } -> tensor<?xi64>
  %w = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (0)>],
      iterator_types = ["parallel"]} ins(%v : tensor<?xi64>) outs(%z : tensor<?xf32>) {
  ^bb0(%q: i64, %there: f32):
    %place = arith.index_cast %q : i64 to index
    %is_within = arith.cmpi ult, %place, %others : index
    cf.assert %is_within, "others"
    %r = "hir.scatter"(%there, %one, %place) : (f32, f32, index) -> f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y, %w : tensor<?x?xf32>, tensor<?xf32>
}

// -----

// Of one update, which is made without loops, the extent is 1.

// CHECK-LABEL: func.func @one(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<9xf32>, %[[I:[^:]*]]: tensor<i64>)
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<1xi8>
// CHECK:         linalg.generic {{.*}} ins(%[[I]], %[[E]] : tensor<i64>, tensor<1xi8>) outs(%[[X]] : tensor<9xf32>)
// CHECK:           arith.addi
// CHECK:           "hir.scatter"
func.func @one(%x: tensor<9xf32>, %i: tensor<i64>) -> tensor<9xf32> {
  %one = arith.constant 1.0 : f32
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<i64>
  %p = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%i : tensor<i64>) outs(%e : tensor<i64>) {
  ^bb0(%a: i64, %b: i64):
    %r = arith.addi %a, %a : i64
    linalg.yield %r : i64
  } -> tensor<i64>
  %places = tensor.expand_shape %p [] output_shape [1] : tensor<i64> into tensor<1xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (0)>], iterator_types = ["parallel"]}
      ins(%places : tensor<1xi64>) outs(%x : tensor<9xf32>) {
  ^bb0(%q: i64, %there: f32):
    %row = arith.index_cast %q : i64 to index
    %rows = arith.cmpi ult, %row, %c9 : index
    cf.assert %rows, "rows"
    %r = "hir.scatter"(%there, %one, %row) : (f32, f32, index) -> f32
    linalg.yield %r : f32
  } -> tensor<9xf32>
  return %y : tensor<9xf32>
}

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

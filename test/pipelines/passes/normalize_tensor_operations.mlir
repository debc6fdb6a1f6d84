// RUN: hirc-opt %s --split-input-file --normalize-tensor-operations --canonicalize --cse | FileCheck %s

// A sum from the neutral element is the sum alone; another start is combined with it after.
// CHECK-LABEL: func.func @sums
func.func @sums(%x: tensor<?x?xf32>, %n: index, %k: f32) -> (tensor<?xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  // CHECK:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
  // CHECK-SAME:   ins(%{{.*}} : tensor<?x?xf32>) outs(%{{.*}} : tensor<?xf32>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT:   %[[S:.*]] = "hir.reduce_loops"(%[[A]]) {kind = "addf", loops = array<i64: 1>}
  // CHECK-NEXT:   linalg.yield %[[S]] : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  // CHECK:        %[[S:.*]] = "hir.reduce_loops"
  // CHECK-NEXT:   %[[T:.*]] = arith.addf %[[S]], %arg2
  // CHECK-NEXT:   linalg.yield %[[T]]
  %f = linalg.fill ins(%k : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %t = linalg.reduce {arith.addf} ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %s, %t : tensor<?xf32>, tensor<?xf32>
}

// -----

// The sum of one element from 0 is not that element, which may be -0; from -0 it is.
// CHECK-LABEL: func.func @sums_of_one
func.func @sums_of_one(%x: tensor<4x1xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %negative = arith.constant -0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  // CHECK:        %[[ZERO:.*]] = arith.constant 0.0
  // CHECK:      ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT:   %[[S:.*]] = arith.addf %[[A]], %[[ZERO]]
  // CHECK-NEXT:   linalg.yield %[[S]]
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x1xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  // CHECK:      ^bb0(%[[B:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT:   linalg.yield %[[B]]
  %n = linalg.fill ins(%negative : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = linalg.reduce {arith.addf} ins(%x : tensor<4x1xf32>) outs(%n : tensor<4xf32>) dimensions = [1]
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}

// -----

// Narrow floats are accumulated in f32, and a start value with them.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%x: tensor<4x8xbf16>, %start: tensor<8xbf16>) -> tensor<8xbf16> {
  // CHECK:      ins(%arg0, %arg1 : tensor<4x8xbf16>, tensor<8xbf16>) outs(%arg1 : tensor<8xbf16>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %{{.*}}: bf16):
  // CHECK-DAG:    %[[WIDE:.*]] = arith.extf %[[A]] : bf16 to f32
  // CHECK-DAG:    %[[SUM:.*]] = "hir.reduce_loops"(%[[WIDE]]) {kind = "addf", loops = array<i64: 0>}
  // CHECK-DAG:    %[[START:.*]] = arith.extf %[[B]] : bf16 to f32
  // CHECK:        %[[ALL:.*]] = arith.addf %[[SUM]], %[[START]] : f32
  // CHECK-NEXT:   arith.truncf %[[ALL]]
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x8xbf16>) outs(%start : tensor<8xbf16>) dimensions = [0]
  return %s : tensor<8xbf16>
}

// -----

// The extreme and its place; the place alone, where the extreme is not used.
#id = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
// CHECK-LABEL: func.func @argmax
func.func @argmax(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi64>
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %p = linalg.fill ins(%zero : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  // CHECK:      ins(%arg0 : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xi64>) attrs = {{.*}} {
  // CHECK:        %[[FOUND:.*]]:2 = "hir.find_loops"(%{{.*}}) {kind = "maximumf", loops = array<i64: 1>}
  // CHECK-NEXT:   linalg.yield %[[FOUND]]#1 : i64
  %r:2 = linalg.generic {indexing_maps = [#id, #rows, #rows], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<4x8xf32>) outs(%m, %p : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %most: f32, %place: i64):
    %c = linalg.index 1 : index
    %here = arith.index_cast %c : index to i64
    %new = arith.maximumf %a, %most : f32
    %more = arith.cmpf ogt, %a, %most : f32
    %at = arith.select %more, %here, %place : i64
    linalg.yield %new, %at : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#1 : tensor<4xi64>
}

// -----

// The last of equal ones is no place that hir.find_loops gives: it stays a loop.
#id = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
// CHECK-LABEL: func.func @last_place
func.func @last_place(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi64>
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %p = linalg.fill ins(%zero : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  // CHECK-NOT: hir.find_loops
  // CHECK:     arith.cmpf oge
  %r:2 = linalg.generic {indexing_maps = [#id, #rows, #rows], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<4x8xf32>) outs(%m, %p : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %most: f32, %place: i64):
    %c = linalg.index 1 : index
    %here = arith.index_cast %c : index to i64
    %new = arith.maximumf %a, %most : f32
    %more = arith.cmpf oge, %a, %most : f32
    %at = arith.select %more, %here, %place : i64
    linalg.yield %new, %at : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#1 : tensor<4xi64>
}

// -----

// A comparison that lets a nan go is maxnumf; one that keeps it until the next is nothing known.
#id = affine_map<(c) -> (c)>
#one = affine_map<(c) -> ()>
// CHECK-LABEL: func.func @by_comparison
func.func @by_comparison(%x: tensor<8xf32>, %e: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %least = arith.constant 0xFF800000 : f32
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // CHECK: "hir.reduce_loops"(%{{.*}}) {kind = "maxnumf", loops = array<i64: 0>}
  %r = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]}
    ins(%x : tensor<8xf32>) outs(%m : tensor<f32>) {
  ^bb0(%a: f32, %most: f32):
    %more = arith.cmpf ogt, %a, %most : f32
    %new = arith.select %more, %a, %most : f32
    linalg.yield %new : f32
  } -> tensor<f32>
  // CHECK-NOT: hir.reduce_loops
  // CHECK:     arith.cmpf ugt
  %s = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]}
    ins(%x : tensor<8xf32>) outs(%m : tensor<f32>) {
  ^bb0(%a: f32, %most: f32):
    %more = arith.cmpf ugt, %a, %most : f32
    %new = arith.select %more, %a, %most : f32
    linalg.yield %new : f32
  } -> tensor<f32>
  return %r, %s : tensor<f32>, tensor<f32>
}

// -----

// Loops of one iteration are gone, and reshapes that add them are part of the maps.
#id = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r, 0)>
// CHECK: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK: #[[UNIT:.*]] = affine_map<(d0) -> (d0, 0)>
// CHECK-LABEL: func.func @unit_dims
func.func @unit_dims(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %w: tensor<4x1xf32>)
    -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %column = tensor.expand_shape %m [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  // CHECK: indexing_maps = [#[[ID]], #[[ROWS]], #[[ID]]]
  // CHECK-SAME: ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4xf32>)
  %d = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %column : tensor<4x8xf32>, tensor<4x1xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.subf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %f = tensor.empty() : tensor<4x1xf32>
  // CHECK: indexing_maps = [#[[UNIT]], #[[UNIT]]], iterator_types = ["parallel"]
  %n = linalg.exp ins(%w : tensor<4x1xf32>) outs(%f : tensor<4x1xf32>) -> tensor<4x1xf32>
  return %d, %n : tensor<4x8xf32>, tensor<4x1xf32>
}

// -----

// Tensors of one scalar are that scalar, unless they alone have the extent of a loop.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%x: tensor<4xf32>, %z: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2.0{{.*}} : f32
  // CHECK-DAG: %[[DENSE:.*]] = arith.constant dense<2.0{{.*}}> : tensor<4xf32>
  // CHECK:     ins(%arg0 : tensor<4xf32>)
  // CHECK:     arith.mulf %{{.*}}, %[[TWO]]
  %y = linalg.mul ins(%x, %two : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // CHECK:     ins(%[[DENSE]] : tensor<4xf32>)
  // CHECK:     "hir.reduce_loops"(%[[TWO]])
  %f = linalg.fill ins(%zero : f32) outs(%z : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce {arith.addf} ins(%two : tensor<4xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %y, %s : tensor<4xf32>, tensor<f32>
}

// -----

// An output that is read becomes an input; the result may still take its place.
#id = affine_map<(c) -> (c)>
// CHECK-LABEL: func.func @reads_its_output
func.func @reads_its_output(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:      ins(%arg0, %arg1 : tensor<4xf32>, tensor<4xf32>) outs(%arg1 : tensor<4xf32>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT:   arith.addf %[[A]], %[[B]]
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Products keep their form, by name or not.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @products
func.func @products(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>, %z: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: linalg.matmul
  %p = linalg.matmul ins(%x, %y : tensor<4x8xf32>, tensor<8x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: linalg.generic
  // CHECK-NOT: hir.reduce_loops
  %q = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<4x8xf32>, tensor<8x4xf32>) outs(%z : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %p, %q : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// torch-mlir's scan; what everything combines to only where it is used.
// CHECK-LABEL: func.func @scan
func.func @scan(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %et = tensor.empty() : tensor<8xf32>
  %o = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = linalg.fill ins(%zero : f32) outs(%et : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: iterator_types = ["reduction", "parallel"]} ins(%arg0 : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xf32>)
  // CHECK: %[[S:.*]] = "hir.scan_loop"(%{{.*}}) {exclusive, kind = "addf", loop = 0 : i64}
  // CHECK: linalg.yield %[[S]] : f32
  %r:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%x : tensor<4x8xf32>) outs(%o, %t : tensor<4x8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tm_tensor.yield %s : f32
  } -> tensor<4x8xf32>, tensor<8xf32>
  // CHECK: %[[S:.*]] = "hir.scan_loop"(%{{.*}}) {kind = "mulf", loop = 0 : i64}
  // CHECK: %[[T:.*]] = "hir.reduce_loops"(%{{.*}}) {kind = "mulf", loops = array<i64: 0>}
  // CHECK: linalg.yield %[[S]], %[[T]] : f32, f32
  %q:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4x8xf32>) outs(%o, %t : tensor<4x8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    tm_tensor.yield %s : f32
  } -> tensor<4x8xf32>, tensor<8xf32>
  return %r#0, %q#0, %q#1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>
}

// -----

// What is known to reduce no elements is what it begins with.

// CHECK-LABEL: func.func @none(
// CHECK-NOT:     "reduction"
// CHECK-NOT:     hir.reduce_loops
// CHECK:         return
func.func @none(%x: tensor<4x0xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x0xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %s : tensor<4xf32>
}

// -----

// A reduction of no elements is what it begins with, also where its region does not read that.
// CHECK-LABEL: func.func @no_elements
// CHECK-NEXT:    return %arg1 : tensor<2xi32>
func.func @no_elements(%x: tensor<2x0xi32>, %start: tensor<2xi32>) -> tensor<2xi32> {
  %all = arith.constant -1 : i32
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x0xi32>) outs(%start : tensor<2xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %all : i32
  } -> tensor<2xi32>
  return %y : tensor<2xi32>
}

// -----

// An extreme of extremes is one over the loops of both, whatever is made of it.

// CHECK-LABEL: func.func @nested(
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction", "reduction"]} ins(%arg0 : tensor<2x?x8xf16>)
// CHECK:           %[[M:.*]] = "hir.reduce_loops"(%{{.*}}) {kind = "maximumf", loops = array<i64: 1, 2>}
// CHECK-NOT:       hir.reduce_loops
// CHECK:           math.absf
// CHECK:         return
func.func @nested(%x: tensor<2x?x8xf16>) -> tensor<2xf16> {
  %c1 = arith.constant 1 : index
  %least = arith.constant 0xFC00 : f16
  %d = tensor.dim %x, %c1 : tensor<2x?x8xf16>
  %e = tensor.empty(%d) : tensor<2x?xf16>
  %z = linalg.fill ins(%least : f16) outs(%e : tensor<2x?xf16>) -> tensor<2x?xf16>
  %r = linalg.reduce {arith.maximumf} ins(%x : tensor<2x?x8xf16>) outs(%z : tensor<2x?xf16>) dimensions = [2]
  %f = tensor.empty() : tensor<2xf16>
  %w = linalg.fill ins(%least : f16) outs(%f : tensor<2xf16>) -> tensor<2xf16>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%r : tensor<2x?xf16>) outs(%w : tensor<2xf16>) {
  ^bb0(%a: f16, %o: f16):
    %m = arith.maximumf %a, %o : f16
    linalg.yield %m : f16
  } -> tensor<2xf16>
  %y = math.absf %s : tensor<2xf16>
  return %y : tensor<2xf16>
}

// -----

// So are three, whose last one reads what the first two have become. Those of two kinds that stand
// between one another are two.

// CHECK-LABEL: func.func @three(
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<2x3x4x8xf32>)
// CHECK:           hir.reduce_loops
// CHECK-NOT:       hir.reduce_loops
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["reduction", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<2x3x4x8xf32>)
// CHECK:           hir.reduce_loops
// CHECK-NOT:       hir.reduce_loops
// CHECK:         return
func.func @three(%x: tensor<2x3x4x8xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %least = arith.constant 0xFF800000 : f32
  %most = arith.constant 0x7F800000 : f32
  %e2 = tensor.empty() : tensor<2x3x4xf32>
  %e1 = tensor.empty() : tensor<2x3xf32>
  %e0 = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<f32>
  %l2 = linalg.fill ins(%least : f32) outs(%e2 : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %l1 = linalg.fill ins(%least : f32) outs(%e1 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %l0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<2xf32>) -> tensor<2xf32>
  %m2 = linalg.fill ins(%most : f32) outs(%e2 : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %m1 = linalg.fill ins(%most : f32) outs(%e1 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %m0 = linalg.fill ins(%most : f32) outs(%e0 : tensor<2xf32>) -> tensor<2xf32>
  %m = linalg.fill ins(%most : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %a = linalg.reduce {arith.maximumf} ins(%x : tensor<2x3x4x8xf32>) outs(%l2 : tensor<2x3x4xf32>) dimensions = [3]
  %p = linalg.reduce {arith.minimumf} ins(%x : tensor<2x3x4x8xf32>) outs(%m2 : tensor<2x3x4xf32>) dimensions = [3]
  %b = linalg.reduce {arith.maximumf} ins(%a : tensor<2x3x4xf32>) outs(%l1 : tensor<2x3xf32>) dimensions = [2]
  %q = linalg.reduce {arith.minimumf} ins(%p : tensor<2x3x4xf32>) outs(%m1 : tensor<2x3xf32>) dimensions = [2]
  %r = linalg.reduce {arith.minimumf} ins(%q : tensor<2x3xf32>) outs(%m0 : tensor<2xf32>) dimensions = [1]
  %c = linalg.reduce {arith.maximumf} ins(%b : tensor<2x3xf32>) outs(%l0 : tensor<2xf32>) dimensions = [1]
  %s = linalg.reduce {arith.minimumf} ins(%r : tensor<2xf32>) outs(%m : tensor<f32>) dimensions = [0]
  return %c, %s : tensor<2xf32>, tensor<f32>
}

// -----

// Not a sum, which is rounded; nor where something else reads what is between, where the kinds
// differ, or where the inner one begins with a number that counts.

// CHECK-LABEL: func.func @not_nested(
// CHECK-NOT:     array<i64: {{.*}},
func.func @not_nested(%x: tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %most = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<f32>
  %e0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%f : tensor<f32>) -> tensor<f32>
  %el = linalg.fill ins(%least : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %fl = linalg.fill ins(%least : f32) outs(%f : tensor<f32>) -> tensor<f32>
  %fm = linalg.fill ins(%most : f32) outs(%f : tensor<f32>) -> tensor<f32>
  %a = linalg.reduce {arith.addf} ins(%x : tensor<4x8xf32>) outs(%e0 : tensor<4xf32>) dimensions = [1]
  %b = linalg.reduce {arith.addf} ins(%a : tensor<4xf32>) outs(%f0 : tensor<f32>) dimensions = [0]
  %c = linalg.reduce {arith.maximumf} ins(%x : tensor<4x8xf32>) outs(%el : tensor<4xf32>) dimensions = [1]
  %d = linalg.reduce {arith.maximumf} ins(%c : tensor<4xf32>) outs(%fl : tensor<f32>) dimensions = [0]
  %g = linalg.reduce {arith.maximumf} ins(%x : tensor<4x8xf32>) outs(%el : tensor<4xf32>) dimensions = [1]
  %h = linalg.reduce {arith.minimumf} ins(%g : tensor<4xf32>) outs(%fm : tensor<f32>) dimensions = [0]
  %i = linalg.reduce {arith.maximumf} ins(%x : tensor<4x8xf32>) outs(%e0 : tensor<4xf32>) dimensions = [1]
  %j = linalg.reduce {arith.maximumf} ins(%i : tensor<4xf32>) outs(%fl : tensor<f32>) dimensions = [0]
  return %b, %d, %c, %h, %j : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<f32>
}

// -----

// Places of windows have no loop of theirs without the result between; and what lies between may be
// rounded, of extremes too, where it is narrower than what is read.

// CHECK-LABEL: func.func @of_windows(
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:         iterator_types = ["parallel", "reduction"]
func.func @of_windows(%x: tensor<4x9xf32>) -> tensor<4xf32> {
  %least = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<3xf32>
  %e = tensor.empty() : tensor<4x7xf32>
  %f = tensor.empty() : tensor<4xf32>
  %el = linalg.fill ins(%least : f32) outs(%e : tensor<4x7xf32>) -> tensor<4x7xf32>
  %fl = linalg.fill ins(%least : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(r, p, w) -> (r, p + w)>, affine_map<(r, p, w) -> (w)>, affine_map<(r, p, w) -> (r, p)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %window : tensor<4x9xf32>, tensor<3xf32>) outs(%el : tensor<4x7xf32>) {
  ^bb0(%a: f32, %w: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<4x7xf32>
  %y = linalg.reduce {arith.maximumf} ins(%r : tensor<4x7xf32>) outs(%fl : tensor<4xf32>) dimensions = [1]
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @rounded_between(
// CHECK-COUNT-2: "hir.reduce_loops"
func.func @rounded_between(%x: tensor<4x8xf32>) -> tensor<f32> {
  %least = arith.constant 0xFC00 : f16
  %wide = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf16>
  %f = tensor.empty() : tensor<f32>
  %el = linalg.fill ins(%least : f16) outs(%e : tensor<4xf16>) -> tensor<4xf16>
  %fl = linalg.fill ins(%wide : f32) outs(%f : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%el : tensor<4xf16>) attrs = {hir.collective} {
  ^bb0(%a: f32, %o: f16):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 1>} : (f32) -> f32
    %n = arith.truncf %m : f32 to f16
    linalg.yield %n : f16
  } -> tensor<4xf16>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%r : tensor<4xf16>) outs(%fl : tensor<f32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %m = arith.maximumf %o, %w : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// The only window along a dim leaves a row out: without its loop of one iteration that of the
// window would go over two of three rows. Where it leaves none out, as along the columns, that
// loop is gone.

// CHECK: [[ROWS:#.*]] = affine_map<(d0, d1, d2) -> (d0 * 2 + d1, d2)>
// CHECK-LABEL: func @only_window
// CHECK: linalg.generic {indexing_maps = {{\[}}[[ROWS]],
func.func @only_window(%x: tensor<3x2xf32>) -> tensor<1x1xf32> {
  %least = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<1x1xf32>
  %start = linalg.fill ins(%least : f32) outs(%empty : tensor<1x1xf32>) -> tensor<1x1xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (2 * i + k, 2 * j + l)>,
                                        affine_map<(i, j, k, l) -> (k, l)>,
                                        affine_map<(i, j, k, l) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %window : tensor<3x2xf32>, tensor<2x2xf32>) outs(%start : tensor<1x1xf32>) {
  ^bb0(%a: f32, %w: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// -----

// A loop whose size is open, and which goes over one element: it does not read the tensor without
// dims that this is a view of, where nothing would tell its size.

// CHECK: [[ALONG:#.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @one_of_open_size
// CHECK: [[ONE:%.*]] = tensor.expand_shape {{.*}} into tensor<1xf64>
// CHECK: linalg.generic {indexing_maps = {{\[}}[[ALONG]], {{.*}} ins([[ONE]] : tensor<1xf64>)
func.func @one_of_open_size(%x: tensor<f64>, %n: index) -> tensor<f64> {
  %one = tensor.expand_shape %x [] output_shape [1] : tensor<f64> into tensor<1xf64>
  %open = tensor.cast %one : tensor<1xf64> to tensor<?xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<f64>
  %start = linalg.fill ins(%zero : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %y = linalg.reduce {arith.addf} ins(%open : tensor<?xf64>) outs(%start : tensor<f64>) dimensions = [0]
  return %y : tensor<f64>
}

// RUN: hirc-opt %s -p convert-scatter-to-linalg,func.func'(canonicalize,cse)' | FileCheck %s

// Rows of a cache are replaced: the index moves a window of one row.

// CHECK-DAG:   #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG:   #[[PLACE:.*]] = affine_map<(d0, d1, d2) -> (d0, 0)>
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>, %[[I:.*]]: tensor<?x1xi64>, %[[U:.*]]: tensor<?x2x4xf32>)
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK:         linalg.generic {indexing_maps = [#[[ALL]], #[[PLACE]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[U]], %[[I]] : {{.*}}) outs(%[[X]] :
// CHECK-NEXT:    ^bb0(%[[V:.*]]: f32, %[[G:.*]]: i64, %[[B:.*]]: f32):
// CHECK-DAG:       %[[W:.*]] = linalg.index 1
// CHECK-DAG:       %[[C:.*]] = linalg.index 2
// CHECK-DAG:       %[[N:.*]] = arith.index_cast %[[G]]
// CHECK:           %[[P:.*]] = arith.addi %[[W]], %[[N]]
// CHECK:           %[[OK:.*]] = arith.cmpi ult, %[[P]], %[[SIZE]]
// CHECK:           cf.assert %[[OK]], "scatter: an index is out of range for dim 0"
// CHECK:           %[[R:.*]] = "hir.scatter"(%[[B]], %[[V]], %[[P]], %[[C]]) : (f32, f32, index, index) -> f32
// CHECK:           linalg.yield %[[R]]
func.func @rows(%x: tensor<?x4xf32>, %i: tensor<?x1xi64>, %u: tensor<?x2x4xf32>) -> tensor<?x4xf32> {
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%u, %i : tensor<?x2x4xf32>, tensor<?x1xi64>) outs(%x : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// What is counted is a number from outside; sums of bf16 are taken in f32, where there are more
// updates than elements.

// CHECK-LABEL: func.func @sums(
// CHECK:         "hir.scatter"(%{{.*}}, %c1_i64, %{{.*}}) {kind = "addi"} : (i64, i64, index) -> i64
// CHECK:         arith.extf
// CHECK:         "hir.scatter"(%{{.*}}) {kind = "addf"} : (f32, f32, index, index) -> f32
// CHECK:         arith.truncf
func.func @sums(%n: tensor<5xi64>, %v: tensor<3xi64>, %i: tensor<3x1xi64>, %x: tensor<4x5xbf16>, %u: tensor<21xbf16>, %j: tensor<21x2xi64>) -> (tensor<5xi64>, tensor<4x5xbf16>) {
  %one = arith.constant 1 : i64
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%v, %i : tensor<3xi64>, tensor<3x1xi64>) outs(%n : tensor<5xi64>) {
  ^bb0(%a: i64, %b: i64):
    %s = arith.addi %b, %one : i64
    tm_tensor.yield %s : i64
  } -> tensor<5xi64>
  %t = tm_tensor.scatter {dimension_map = array<i64: 1, 0>} unique_indices(false) ins(%u, %j : tensor<21xbf16>, tensor<21x2xi64>) outs(%x : tensor<4x5xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %b, %a : bf16
    tm_tensor.yield %s : bf16
  } -> tensor<4x5xbf16>
  return %r, %t : tensor<5xi64>, tensor<4x5xbf16>
}

// With no more updates than elements each sum is rounded; not where their numbers are open, nor
// what is counted, nor products.

// CHECK-LABEL: func.func @few(
// CHECK-NOT:     arith.extf
// CHECK:         "hir.scatter"(%{{.*}}) {kind = "addf"} : (bf16, bf16, index, index) -> bf16
// CHECK-NOT:     arith.truncf
// CHECK-LABEL: func.func @open(
// CHECK:         "hir.scatter"(%{{.*}}) {kind = "addf"} : (f32, f32, index, index) -> f32
// CHECK-LABEL: func.func @counted(
// CHECK:         "hir.scatter"(%{{.*}}) {kind = "addf"} : (f32, f32, index) -> f32
// CHECK-LABEL: func.func @products(
// CHECK:         "hir.scatter"(%{{.*}}) {kind = "mulf"} : (f32, f32, index, index) -> f32
func.func @few(%x: tensor<4x5xbf16>, %u: tensor<20xbf16>, %j: tensor<20x2xi64>) -> tensor<4x5xbf16> {
  %t = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false) ins(%u, %j : tensor<20xbf16>, tensor<20x2xi64>) outs(%x : tensor<4x5xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %b, %a : bf16
    tm_tensor.yield %s : bf16
  } -> tensor<4x5xbf16>
  return %t : tensor<4x5xbf16>
}
func.func @open(%x: tensor<4x5xf16>, %u: tensor<?xf16>, %j: tensor<?x2xi64>) -> tensor<4x5xf16> {
  %t = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false) ins(%u, %j : tensor<?xf16>, tensor<?x2xi64>) outs(%x : tensor<4x5xf16>) {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %b, %a : f16
    tm_tensor.yield %s : f16
  } -> tensor<4x5xf16>
  return %t : tensor<4x5xf16>
}
func.func @counted(%x: tensor<5xf16>, %u: tensor<3xf16>, %j: tensor<3x1xi64>) -> tensor<5xf16> {
  %one = arith.constant 1.0 : f16
  %t = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %j : tensor<3xf16>, tensor<3x1xi64>) outs(%x : tensor<5xf16>) {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %b, %one : f16
    tm_tensor.yield %s : f16
  } -> tensor<5xf16>
  return %t : tensor<5xf16>
}
func.func @products(%x: tensor<4x5xf16>, %u: tensor<3xf16>, %j: tensor<3x2xi64>) -> tensor<4x5xf16> {
  %t = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false) ins(%u, %j : tensor<3xf16>, tensor<3x2xi64>) outs(%x : tensor<4x5xf16>) {
  ^bb0(%a: f16, %b: f16):
    %s = arith.mulf %b, %a : f16
    tm_tensor.yield %s : f16
  } -> tensor<4x5xf16>
  return %t : tensor<4x5xf16>
}

// Into nothing nothing is written.

// CHECK-LABEL: func.func @nothing(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<0xi64>
// CHECK-NEXT:    return %[[X]]
func.func @nothing(%x: tensor<0xi64>, %v: tensor<0xi64>, %i: tensor<0x1xi64>) -> tensor<0xi64> {
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%v, %i : tensor<0xi64>, tensor<0x1xi64>) outs(%x : tensor<0xi64>) {
  ^bb0(%a: i64, %b: i64):
    tm_tensor.yield %a : i64
  } -> tensor<0xi64>
  return %r : tensor<0xi64>
}

// Into a transposed tensor is into the tensor itself; the result is transposed.

// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x8x4xf32>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} outs(%[[X]] : tensor<2x8x4xf32>)
// CHECK:         ^bb0(%[[U:.*]]: f32, %[[I:.*]]: i64, %[[B:.*]]: f32):
// CHECK:           %[[C0:.*]] = linalg.index 1
// CHECK:           %[[C1:.*]] = linalg.index 2
// CHECK:           %[[P:.*]] = arith.index_cast %[[I]]
// CHECK:           "hir.scatter"(%[[B]], %[[U]], %[[C0]], %[[P]], %[[C1]])
// CHECK:         linalg.transpose ins(%[[R]] : tensor<2x8x4xf32>) {{.*}} permutation = [1, 0, 2]
func.func @transposed(%x: tensor<2x8x4xf32>, %v: tensor<3x2x4xf32>, %i: tensor<3x1xi64>) -> tensor<8x2x4xf32> {
  %e = tensor.empty() : tensor<8x2x4xf32>
  %t = linalg.transpose ins(%x : tensor<2x8x4xf32>) outs(%e : tensor<8x2x4xf32>) permutation = [1, 0, 2]
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%v, %i : tensor<3x2x4xf32>, tensor<3x1xi64>) outs(%t : tensor<8x2x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<8x2x4xf32>
  return %r : tensor<8x2x4xf32>
}

// Dims that were made into one for it are loops again, and columns that were put together are read
// where they come from; of such a tensor of open sizes, too.

// CHECK-LABEL: func.func @spread(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x?xf32>, %[[I:[^:]*]]: tensor<?x4xi64>, %[[U:[^:]*]]: tensor<?x4xf32>)
// CHECK:         %[[J:.*]] = linalg.generic
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[U]], %[[I]], %[[J]] : tensor<?x4xf32>, tensor<?x4xi64>, tensor<?x4xi64>) outs(%[[X]] :
func.func @spread(%x: tensor<8x?xf32>, %i: tensor<?x4xi64>, %u: tensor<?x4xf32>) -> tensor<8x?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?x4xi64>
  %m = tensor.dim %u, %c0 : tensor<?x4xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "as many"
  %zero = arith.constant 0 : i64
  // A size is never below 0.
  %given = arith.index_cast %n : index to i64
  %below = arith.cmpi slt, %given, %zero : i64
  %size = arith.select %below, %c0, %n : index
  %e = tensor.empty(%size) : tensor<?x4xi64>
  %j = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x4xi64>) {
  ^bb0(%b: i64):
    %k = linalg.index 1 : index
    %r = arith.index_cast %k : index to i64
    linalg.yield %r : i64
  } -> tensor<?x4xi64>
  %c4 = arith.constant 4 : index
  %all = arith.muli %n, %c4 : index
  %fi = tensor.collapse_shape %i [[0, 1]] : tensor<?x4xi64> into tensor<?xi64>
  %fj = tensor.collapse_shape %j [[0, 1]] : tensor<?x4xi64> into tensor<?xi64>
  %fu = tensor.collapse_shape %u [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %ci = tensor.expand_shape %fi [[0, 1]] output_shape [%all, 1] : tensor<?xi64> into tensor<?x1xi64>
  %cj = tensor.expand_shape %fj [[0, 1]] output_shape [%all, 1] : tensor<?xi64> into tensor<?x1xi64>
  %p = tensor.concat dim(1) %ci, %cj : (tensor<?x1xi64>, tensor<?x1xi64>) -> tensor<?x2xi64>
  %r = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(false) ins(%fu, %p : tensor<?xf32>, tensor<?x2xi64>) outs(%x : tensor<8x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    tm_tensor.yield %s : f32
  } -> tensor<8x?xf32>
  return %r : tensor<8x?xf32>
}

// Sizes of arguments that have one name are the same; those of a slice that begins at 0 and is as
// long as what is no longer than its tensor are that.

// CHECK-LABEL: func.func @named(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x?xf32> {{.*}}, %[[I:[^:]*]]: tensor<?x?xi64> {{.*}}, %[[U:[^:]*]]: tensor<?x?xf32>
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[U]]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[S]], %[[I]], %{{.*}} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xi64>) outs(%[[X]] :
func.func @named(%x: tensor<?x?xf32> {hir.sizes = ["a", "b"]}, %i: tensor<?x?xi64> {hir.sizes = ["n", "m"]}, %u: tensor<?x?xf32> {hir.sizes = ["n", "m"]}) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %last = arith.constant -1 : index
  %n = tensor.dim %i, %c0 : tensor<?x?xi64>
  %m = tensor.dim %i, %c1 : tensor<?x?xi64>
  %rows = tensor.dim %u, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %u, %c1 : tensor<?x?xf32>
  %given = arith.index_cast %rows : index to i64
  %least = arith.minsi %given, %zero : i64
  %start = arith.index_cast %least : i64 to index
  %is_below = arith.cmpi slt, %n, %c0 : index
  %from_end = arith.addi %n, %rows : index
  %end = arith.select %is_below, %from_end, %n : index
  %is_still_below = arith.cmpi slt, %end, %c0 : index
  %some_end = arith.select %is_still_below, %last, %end : index
  %most = arith.minsi %some_end, %rows : index
  %length = arith.subi %most, %start : index
  %size = arith.maxsi %length, %c0 : index
  %s = tensor.extract_slice %u[%start, 0] [%size, %columns] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xi64>
  %j = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x?xi64>) {
  ^bb0(%b: i64):
    %k = linalg.index 1 : index
    %r = arith.index_cast %k : index to i64
    linalg.yield %r : i64
  } -> tensor<?x?xi64>
  %all = arith.muli %n, %m : index
  %fi = tensor.collapse_shape %i [[0, 1]] : tensor<?x?xi64> into tensor<?xi64>
  %fj = tensor.collapse_shape %j [[0, 1]] : tensor<?x?xi64> into tensor<?xi64>
  %fu = tensor.collapse_shape %s [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %ci = tensor.expand_shape %fi [[0, 1]] output_shape [%all, 1] : tensor<?xi64> into tensor<?x1xi64>
  %cj = tensor.expand_shape %fj [[0, 1]] output_shape [%all, 1] : tensor<?xi64> into tensor<?x1xi64>
  %p = tensor.concat dim(1) %ci, %cj : (tensor<?x1xi64>, tensor<?x1xi64>) -> tensor<?x2xi64>
  %r = tm_tensor.scatter {dimension_map = array<i64: 0, 1>} unique_indices(true) ins(%fu, %p : tensor<?xf32>, tensor<?x2xi64>) outs(%x : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Of other names they may be others, and so may a size that was cut to 32 bits.

// CHECK-LABEL: func.func @unnamed(
// CHECK-COUNT-2: linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xi64>)
func.func @unnamed(%x: tensor<?xf32>, %i: tensor<?x?xi64> {hir.sizes = ["n", "m"]}, %u: tensor<?x?xf32> {hir.sizes = ["k", "m"]}, %v: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = tensor.dim %i, %c0 : tensor<?x?xi64>
  %m = tensor.dim %i, %c1 : tensor<?x?xi64>
  %all = arith.muli %n, %m : index
  %fi = tensor.collapse_shape %i [[0, 1]] : tensor<?x?xi64> into tensor<?xi64>
  %fu = tensor.collapse_shape %u [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %p = tensor.expand_shape %fi [[0, 1]] output_shape [%all, 1] : tensor<?xi64> into tensor<?x1xi64>
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%fu, %p : tensor<?xf32>, tensor<?x1xi64>) outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    tm_tensor.yield %s : f32
  } -> tensor<?xf32>
  %given = arith.index_cast %n : index to i32
  %above = arith.maxsi %given, %zero : i32
  %cut = arith.index_cast %above : i32 to index
  %slice = tensor.extract_slice %v[0, 0] [%cut, %m] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %fv = tensor.collapse_shape %slice [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %t = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%fv, %p : tensor<?xf32>, tensor<?x1xi64>) outs(%r : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    tm_tensor.yield %s : f32
  } -> tensor<?xf32>
  return %r, %t : tensor<?xf32>, tensor<?xf32>
}

// Not where the dims are others, of as many elements.

// CHECK-LABEL: func.func @apart(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%{{.*}}, %{{.*}} : tensor<24xf32>, tensor<24xi64>)
func.func @apart(%x: tensor<8xf32>, %i: tensor<6x4xi64>, %u: tensor<4x6xf32>) -> tensor<8xf32> {
  %fi = tensor.collapse_shape %i [[0, 1]] : tensor<6x4xi64> into tensor<24xi64>
  %fu = tensor.collapse_shape %u [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %p = tensor.expand_shape %fi [[0, 1]] output_shape [24, 1] : tensor<24xi64> into tensor<24x1xi64>
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%fu, %p : tensor<24xf32>, tensor<24x1xi64>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    tm_tensor.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// One token's keys go into a cache: its update is read from behind dims of one element, along which no
// loop is left.

// CHECK-LABEL: func.func @token(
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<1x4x12x8xf32>, tensor<1xi64>) outs(%{{.*}} : tensor<64x4x12x8xf32>)
func.func @token(%state: tensor<64x4x12x8xf32>, %u: tensor<1x4x12x8xf32>, %i: tensor<1xi64>) -> tensor<64x4x12x8xf32> {
  %places = tensor.expand_shape %i [[0, 1]] output_shape [1, 1] : tensor<1xi64> into tensor<1x1xi64>
  %updates = tensor.expand_shape %u [[0], [1, 2], [3], [4]] output_shape [1, 1, 4, 12, 8]
    : tensor<1x4x12x8xf32> into tensor<1x1x4x12x8xf32>
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true)
    ins(%updates, %places : tensor<1x1x4x12x8xf32>, tensor<1x1xi64>) outs(%state : tensor<64x4x12x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<64x4x12x8xf32>
  return %r : tensor<64x4x12x8xf32>
}

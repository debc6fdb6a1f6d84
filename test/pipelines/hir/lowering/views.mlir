// RUN: hirc-opt %s --split-input-file -p convert-hir-to-gpu,canonicalize,cse | FileCheck %s

// CHECK-DAG:   "hir.select: index %lld is out of range for axis 0 of size %lld\00"
// CHECK-LABEL: func.func private @hirc_body_select(
// CHECK-SAME:      %[[X:.*]]: memref<?x4xf32>, %[[I:.*]]: index,
// CHECK:         %{{.*}}, %{{.*}}, %[[SIZES:.*]]:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[OUTSIDE:.*]] = arith.cmpi uge, %[[I]], %[[SIZES]]#0
// CHECK-NEXT:    scf.if %[[OUTSIDE]] {
// CHECK:           llvm.call @hirc_refuse(
// CHECK:         %[[START:.*]] = arith.muli %[[I]], %c4
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [%[[START]]], sizes: [4], strides: [1]
"hir.program"() ({
^bb0(%x: memref<?x4xf32>, %i: index):
  %v = "hir.select"(%x, %i) {axis = 0 : i64}
    : (memref<?x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  "hir.output"(%v) : (memref<4xf32, strided<[1], offset: ?>>) -> ()
}) {sym_name = "select", function_type = (memref<?x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>} : () -> ()

// -----

// Nothing is checked or computed where all is known.

// CHECK-LABEL: func.func private @hirc_body_known(
// CHECK-SAME:      %[[X:.*]]: memref<8x4xf32>,
// CHECK-NOT:     hirc_refuse
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [10], sizes: [3], strides: [8]
"hir.program"() ({
^bb0(%x: memref<8x4xf32>):
  %two = arith.constant 2 : index
  %seven = arith.constant 7 : index
  %column = "hir.select"(%x, %two) {axis = 1 : i64}
    : (memref<8x4xf32>, index) -> memref<8xf32, strided<[4], offset: 2>>
  %part = "hir.slice"(%column, %two, %seven) {axis = 0 : i64, step = 2 : i64}
    : (memref<8xf32, strided<[4], offset: 2>>, index, index) -> memref<3xf32, strided<[8], offset: 10>>
  "hir.output"(%part) : (memref<3xf32, strided<[8], offset: 10>>) -> ()
}) {sym_name = "known", function_type = (memref<8x4xf32>) -> memref<3xf32, strided<[8], offset: 10>>} : () -> ()

// -----

// CHECK-DAG:   "hir.slice: stop %lld is not between 0 and %lld, the size of axis 0\00"
// CHECK-DAG:   "hir.slice: start %lld is not between 0 and the stop, %lld, on axis 0\00"
// CHECK-LABEL: func.func private @hirc_body_slice(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32, strided<[?], offset: ?>>, %[[FROM:.*]]: index, %[[TO:.*]]: index,
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %[[SIZE:.*]], %[[STRIDE:.*]] = memref.extract_strided_metadata %[[X]]
// CHECK:         arith.cmpi ugt, %[[TO]], %[[SIZE]]
// CHECK:         arith.cmpi ugt, %[[FROM]], %[[TO]]
// CHECK:         %[[LENGTH:.*]] = arith.subi %[[TO]], %[[FROM]]
// CHECK:         %[[MORE:.*]] = arith.addi %[[LENGTH]], %c2
// CHECK:         %[[COUNT:.*]] = arith.divui %[[MORE]], %c3
// CHECK:         %[[STEP:.*]] = arith.muli %[[STRIDE]], %c3
// CHECK:         %[[SKIPPED:.*]] = arith.muli %[[FROM]], %[[STRIDE]]
// CHECK:         %[[START:.*]] = arith.addi %[[OFFSET]], %[[SKIPPED]]
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [%[[START]]], sizes: [%[[COUNT]]], strides: [%[[STEP]]]
"hir.program"() ({
^bb0(%x: memref<?xf32, strided<[?], offset: ?>>, %from: index, %to: index):
  %v = "hir.slice"(%x, %from, %to) {axis = 0 : i64, step = 3 : i64}
    : (memref<?xf32, strided<[?], offset: ?>>, index, index) -> memref<?xf32, strided<[?], offset: ?>>
  "hir.output"(%v) : (memref<?xf32, strided<[?], offset: ?>>) -> ()
}) {sym_name = "slice", function_type = (memref<?xf32, strided<[?], offset: ?>>, index, index) -> memref<?xf32, strided<[?], offset: ?>>} : () -> ()

// -----

// CHECK-LABEL: func.func private @hirc_body_permute(
// CHECK-SAME:      %[[X:.*]]: memref<?x4xf32>,
// CHECK:         %{{.*}}, %{{.*}}, %[[SIZES:.*]]:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [0], sizes: [4, %[[SIZES]]#0], strides: [1, 4]
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  %v = "hir.permute"(%x) {order = array<i64: 1, 0>}
    : (memref<?x4xf32>) -> memref<4x?xf32, strided<[1, 4]>>
  "hir.output"(%v) : (memref<4x?xf32, strided<[1, 4]>>) -> ()
}) {sym_name = "permute", function_type = (memref<?x4xf32>) -> memref<4x?xf32, strided<[1, 4]>>} : () -> ()

// -----

// An open size may be 1, and then it repeats.

// CHECK-DAG:   "hir.expand: size %lld of axis 1 cannot be repeated to %lld: only a size of 1 repeats\00"
// CHECK-LABEL: func.func private @hirc_body_expand(
// CHECK-SAME:      %[[X:.*]]: memref<1x?xf32>, %[[N:.*]]: index, %[[M:.*]]: index,
// CHECK:         arith.minsi %[[N]], %[[M]]
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[OLD:.*]], %[[M]]
// CHECK:         %[[SEVERAL:.*]] = arith.cmpi ne, %[[OLD]], %c1
// CHECK:         arith.andi %[[SEVERAL]],
// CHECK:         llvm.call @hirc_refuse(
// CHECK:         %[[STRIDE:.*]] = arith.select %[[SAME]], %c1{{.*}}, %c0
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [0], sizes: [2, %[[N]], %[[M]]], strides: [0, 0, %[[STRIDE]]]
"hir.program"() ({
^bb0(%x: memref<1x?xf32>, %n: index, %m: index):
  %v = "hir.expand"(%x, %n, %m)
    : (memref<1x?xf32>, index, index) -> memref<2x?x?xf32, strided<[0, 0, ?]>>
  "hir.output"(%v) : (memref<2x?x?xf32, strided<[0, 0, ?]>>) -> ()
}) {sym_name = "expand", function_type = (memref<1x?xf32>, index, index) -> memref<2x?x?xf32, strided<[0, 0, ?]>>} : () -> ()

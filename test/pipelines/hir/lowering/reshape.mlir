// RUN: hirc-opt %s --split-input-file -p convert-hir-to-gpu,canonicalize,cse | FileCheck %s

// A packed buffer stays packed; that the numbers of elements agree is checked.

// CHECK-DAG:   "hir.reshape: the sizes have %lld elements, the buffer has %lld\00"
// CHECK-LABEL: func.func private @hirc_body_packed(
// CHECK-SAME:      %[[X:.*]]: memref<?x6xf32>, %[[N:.*]]: index,
// CHECK:         %{{.*}}, %{{.*}}, %[[SIZES:.*]]:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[NEW:.*]], %[[HIGH:.*]] = arith.mului_extended %[[N]], %c3
// CHECK:         %[[OLD:.*]] = arith.muli %[[SIZES]]#0, %c6
// CHECK:         arith.cmpi ne, %[[NEW]], %[[OLD]]
// CHECK-NOT:     hirc_reshape_strides
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[N]], 3], strides: [3, 1]
"hir.program"() ({
^bb0(%x: memref<?x6xf32>, %n: index):
  %v = "hir.reshape"(%x, %n) : (memref<?x6xf32>, index) -> memref<?x3xf32>
  "hir.output"(%v) : (memref<?x3xf32>) -> ()
}) {sym_name = "packed", function_type = (memref<?x6xf32>, index) -> memref<?x3xf32>} : () -> ()

// -----

// CHECK-LABEL: func.func private @hirc_body_known(
// CHECK-SAME:      %[[X:.*]]: memref<4x6xf32, strided<[8, 1]>>,
// CHECK-NOT:     llvm.call
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [0], sizes: [2, 2, 6], strides: [16, 8, 1]
"hir.program"() ({
^bb0(%x: memref<4x6xf32, strided<[8, 1]>>):
  %v = "hir.reshape"(%x) : (memref<4x6xf32, strided<[8, 1]>>) -> memref<2x2x6xf32, strided<[16, 8, 1]>>
  "hir.output"(%v) : (memref<2x2x6xf32, strided<[16, 8, 1]>>) -> ()
}) {sym_name = "known", function_type = (memref<4x6xf32, strided<[8, 1]>>) -> memref<2x2x6xf32, strided<[16, 8, 1]>>} : () -> ()

// -----

// Where strides are open, a packed buffer is known in line, and any other is left to the support
// library.

// CHECK-LABEL: func.func private @hirc_body_open(
// CHECK-SAME:      %[[X:.*]]: memref<4x6xf32, strided<[?, ?], offset: ?>>,
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[OUTER:.*]] = arith.cmpi eq, %[[STRIDES]]#0, %c6
// CHECK:         %[[INNER:.*]] = arith.cmpi eq, %[[STRIDES]]#1, %c1
// CHECK:         %[[PACKED:.*]] = arith.andi %[[OUTER]], %[[INNER]]
// CHECK:         %[[FOUND:.*]] = scf.if %[[PACKED]] -> (index) {
// CHECK-NEXT:      scf.yield %c1
// CHECK:           llvm.call @hirc_reshape_strides(
// CHECK:           llvm.load
// CHECK:         memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [24], strides: [%[[FOUND]]]
"hir.program"() ({
^bb0(%x: memref<4x6xf32, strided<[?, ?], offset: ?>>):
  %v = "hir.reshape"(%x) : (memref<4x6xf32, strided<[?, ?], offset: ?>>) -> memref<24xf32, strided<[?], offset: ?>>
  "hir.output"(%v) : (memref<24xf32, strided<[?], offset: ?>>) -> ()
}) {sym_name = "open", function_type = (memref<4x6xf32, strided<[?, ?], offset: ?>>) -> memref<24xf32, strided<[?], offset: ?>>} : () -> ()

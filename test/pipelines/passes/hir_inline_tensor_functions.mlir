// RUN: hirc-opt %s --split-input-file -p hir-inline-tensor-functions | FileCheck %s

// The operations come back; a value that another one is too gets memory of its own.
// CHECK-NOT:   sym_name = "main_tensors"
// CHECK-LABEL: "hir.program"
// CHECK:         ^bb0(%[[X:.*]]: memref<8xf32>):
// CHECK-NEXT:    %[[Y:.*]] = "hir.allocate"()
// CHECK-NEXT:    linalg.exp ins(%[[X]] : memref<8xf32>) outs(%[[Y]] : memref<8xf32>)
// CHECK-NEXT:    %[[COPY:.*]] = "hir.set"(%[[Y]])
// CHECK-NEXT:    "hir.output"(%[[Y]])
// CHECK-NEXT:    "hir.output"(%[[COPY]])
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %y = "hir.allocate"() : () -> memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  "hir.output"(%y) : (memref<8xf32>) -> ()
  "hir.output"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "main_tensors", function_type = (memref<8xf32>) -> (memref<8xf32>, memref<8xf32>), hir.inlined} : () -> ()
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %called = "hir.call"() ({
    "hir.argument"(%x) : (memref<8xf32>) -> ()
  }) {callee = @main_tensors} : () -> !hir.results_t
  %0 = "hir.result"(%called) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
  %1 = "hir.result"(%called) {index = 1 : i64} : (!hir.results_t) -> memref<8xf32>
  "hir.output"(%0) : (memref<8xf32>) -> ()
  "hir.output"(%1) : (memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>) -> (memref<8xf32>, memref<8xf32>)} : () -> ()

// -----

// A buffer of other strides is read in place by loops, and copied for views; a destination is
// written in place.
// CHECK-LABEL: "hir.program"
// CHECK:         ^bb0(%[[X:.*]]: memref<2x4xf32, strided<[8, 1]>>, %[[Y:.*]]: memref<2x4xf32, strided<[8, 1]>>, %[[TO:.*]]: memref<2x4xf32, strided<[1, 2]>>):
// CHECK-NEXT:    %[[COPY:.*]] = "hir.set"(%[[Y]])
// CHECK-NEXT:    memref.collapse_shape %[[COPY]]
// CHECK-NEXT:    linalg.exp ins(%[[X]] : memref<2x4xf32, strided<[8, 1]>>) outs(%[[TO]] : memref<2x4xf32, strided<[1, 2]>>)
// CHECK-NEXT:    "hir.output"
"hir.program"() ({
^bb0(%x: memref<2x4xf32>, %y: memref<2x4xf32>):
  %z = "hir.allocate"() : () -> memref<2x4xf32>
  %flat = memref.collapse_shape %y [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  linalg.exp ins(%x : memref<2x4xf32>) outs(%z : memref<2x4xf32>)
  "hir.output"(%z) : (memref<2x4xf32>) -> ()
}) {sym_name = "main_tensors", function_type = (memref<2x4xf32>, memref<2x4xf32>) -> memref<2x4xf32>, hir.inlined} : () -> ()
"hir.program"() ({
^bb0(%x: memref<2x4xf32, strided<[8, 1]>>, %y: memref<2x4xf32, strided<[8, 1]>>, %to: memref<2x4xf32, strided<[1, 2]>>):
  %called = "hir.call"() ({
    "hir.argument"(%x) : (memref<2x4xf32, strided<[8, 1]>>) -> ()
    "hir.argument"(%y) : (memref<2x4xf32, strided<[8, 1]>>) -> ()
    "hir.argument"(%to) {destination = 0 : i64} : (memref<2x4xf32, strided<[1, 2]>>) -> ()
  }) {callee = @main_tensors} : () -> !hir.results_t
  "hir.output"(%to) : (memref<2x4xf32, strided<[1, 2]>>) -> ()
}) {sym_name = "main", function_type = (memref<2x4xf32, strided<[8, 1]>>, memref<2x4xf32, strided<[8, 1]>>, memref<2x4xf32, strided<[1, 2]>>) -> memref<2x4xf32>} : () -> ()

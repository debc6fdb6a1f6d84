// RUN: hirc-opt %s -p convert-hir-to-gpu,canonicalize,cse | FileCheck %s

// An output without a destination is allocated by the callee, or is the caller's own where it is an
// output here too. What an input is declared to be is checked.

// CHECK-DAG:   "axis 0 of input 'b' of @layer has size %lld, and axis 0 of input 'a' of @layer %lld: both are 'n'\00"
// CHECK-DAG:   "input 'a' of @layer: stride %lld of axis 0, where the program takes %lld; hir.set makes a packed copy\00"
// CHECK-LABEL: func.func private @hirc_body_main(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32, strided<[?]>>, %[[Y:.*]]: memref<?xf32>, %[[D:.*]]: memref<?xf32>, %[[GIVEN:.*]]: memref<?xf32, strided<[?], offset: ?>>, %[[STREAM:.*]]: !llvm.ptr)
// CHECK:         %[[ZERO:.*]] = llvm.mlir.zero : !llvm.struct
// CHECK:         llvm.call @hirc_refuse(
// CHECK:         %[[A:.*]] = memref.cast %[[X]] : memref<?xf32, strided<[?]>> to memref<?xf32>
// CHECK:         llvm.call @hirc_refuse(
// CHECK:         %[[NOTHING:.*]] = builtin.unrealized_conversion_cast %[[ZERO]]
// CHECK:         %[[FRESH:.*]]:2 = call @hirc_body_layer(%[[A]], %[[Y]], %[[NOTHING]], %[[STREAM]])
// CHECK:         %[[FIELDS:.*]] = builtin.unrealized_conversion_cast %[[FRESH]]#0
// CHECK:         %[[MEMORY:.*]] = llvm.extractvalue %[[FIELDS]][0]
// CHECK:         %[[DESTINATION:.*]] = memref.cast %[[D]] : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
// CHECK:         call @hirc_body_layer(%[[A]], %[[Y]], %[[DESTINATION]], %[[STREAM]])
// CHECK:         %[[OUT:.*]]:2 = call @hirc_body_layer(%[[A]], %[[Y]], %[[GIVEN]], %[[STREAM]])
// CHECK:         llvm.call @hirc_free(%[[MEMORY]], %{{.*}}, %[[STREAM]], %{{.*}})
// CHECK:         return %{{.*}}, %[[OUT]]#1
"hir.program"() ({
^bb0(%x: memref<?xf32, strided<[?]>>, %y: memref<?xf32>, %d: memref<?xf32>):
  %1 = "hir.call"() ({
    "hir.argument"(%x) : (memref<?xf32, strided<[?]>>) -> ()
    "hir.argument"(%y) : (memref<?xf32>) -> ()
  }) {callee = @layer} : () -> !hir.results_t
  %fresh = "hir.result"(%1) {index = 0 : i64} : (!hir.results_t) -> memref<?xf32>
  %2 = "hir.call"() ({
    "hir.argument"(%x) : (memref<?xf32, strided<[?]>>) -> ()
    "hir.argument"(%y) : (memref<?xf32>) -> ()
    "hir.argument"(%d) {destination = 0 : i64} : (memref<?xf32>) -> ()
  }) {callee = @layer} : () -> !hir.results_t
  %3 = "hir.call"() ({
    "hir.argument"(%x) : (memref<?xf32, strided<[?]>>) -> ()
    "hir.argument"(%y) : (memref<?xf32>) -> ()
  }) {callee = @layer} : () -> !hir.results_t
  %out = "hir.result"(%3) {index = 0 : i64} : (!hir.results_t) -> memref<?xf32>
  %size = "hir.result"(%3) {index = 1 : i64} : (!hir.results_t) -> index
  "hir.deallocate"(%fresh) : (memref<?xf32>) -> ()
  "hir.output"(%out) : (memref<?xf32>) -> ()
  "hir.output"(%size) : (index) -> ()
}) {sym_name = "main", function_type = (memref<?xf32, strided<[?]>>, memref<?xf32>, memref<?xf32>) -> (memref<?xf32>, index)} : () -> ()

// CHECK-LABEL: func.func private @hirc_body_layer(
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>):
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %z = "hir.allocate"(%n) {output = 0 : i64} : (index) -> memref<?xf32>
  "hir.output"(%z) : (memref<?xf32>) -> ()
  "hir.output"(%n) : (index) -> ()
}) {sym_name = "layer", inputs = [{name = "a", sizes = ["n"]}, {name = "b", sizes = ["n"]}],
    function_type = (memref<?xf32>, memref<?xf32>) -> (memref<?xf32>, index)} : () -> ()

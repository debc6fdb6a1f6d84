// RUN: hirc-opt %s -p convert-hir-to-gpu | FileCheck %s

// C's types: a pointer to the descriptor, int for what is narrower, the current stream last.

// CHECK-LABEL: func.func private @hirc_body_main(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32>, %[[FLAG:.*]]: i1, %[[U:.*]]: i8, %[[S:.*]]: i16, %[[F:.*]]: f32, %[[N:.*]]: index, %[[STREAM:.*]]: !llvm.ptr) -> i8
// CHECK:         %[[SLOT:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK:         %[[BUFFER:.*]] = builtin.unrealized_conversion_cast %[[X]]
// CHECK:         llvm.store %[[BUFFER]], %[[SLOT]]
// CHECK:         %[[TRUTH:.*]] = arith.extui %[[FLAG]] : i1 to i32
// CHECK:         %[[BYTE:.*]] = arith.extui %[[U]] : i8 to i32
// CHECK:         %[[SHORT:.*]] = arith.extsi %[[S]] : i16 to i32
// CHECK:         %[[INDEX:.*]] = builtin.unrealized_conversion_cast %[[N]] : index to i64
// CHECK:         %[[VALUE:.*]] = llvm.call @show(%[[SLOT]], %[[TRUTH]], %[[BYTE]], %[[SHORT]], %[[F]], %[[INDEX]], %[[STREAM]]) : (!llvm.ptr, i32, i32, i32, f32, i64, !llvm.ptr) -> i32
// CHECK:         %[[RESULT:.*]] = arith.trunci %[[VALUE]] : i32 to i8
// CHECK:         llvm.call @tick(%[[STREAM]]) : (!llvm.ptr) -> ()
// CHECK:         return %[[RESULT]]
"hir.program"() ({
^bb0(%x: memref<?xf32>, %flag: i1, %u: ui8, %s: i16, %f: f32, %n: index):
  %results = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
    "hir.argument"(%flag) : (i1) -> ()
    "hir.argument"(%u) : (ui8) -> ()
    "hir.argument"(%s) : (i16) -> ()
    "hir.argument"(%f) : (f32) -> ()
    "hir.argument"(%n) : (index) -> ()
  }) {callee = @show, result_types = [i8]} : () -> !hir.results_t
  %value = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> i8
  %nothing = "hir.host_call"() ({
  ^bb0:
  }) {callee = @tick} : () -> !hir.results_t
  "hir.output"(%value) : (i8) -> ()
}) {sym_name = "main", function_type = (memref<?xf32>, i1, ui8, i16, f32, index) -> i8} : () -> ()

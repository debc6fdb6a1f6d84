// RUN: hirc-opt %s --split-input-file -p convert-hir-to-gpu,canonicalize,cse | FileCheck %s

// CHECK-DAG:   "hir.for: the step is %lld; it must be at least 1\00"
// CHECK-LABEL: func.func private @hirc_body_loop(
// CHECK-SAME:      %[[N:.*]]: index, %[[STEP:.*]]: index,
// CHECK:         %[[WRONG:.*]] = arith.cmpi sle, %[[STEP]], %c0
// CHECK:         scf.if %[[WRONG]] {
// CHECK:         scf.for %[[I:.*]] = %c0 to %[[N]] step %[[STEP]] {
// CHECK:           llvm.call @tick(%{{.*}}, %{{.*}})
// CHECK-NEXT:    }
"hir.program"() ({
^bb0(%n: index, %step: index):
  %zero = arith.constant 0 : index
  "hir.for"(%zero, %n, %step) ({
  ^bb0(%i: index):
    %nothing = "hir.host_call"() ({
      "hir.argument"(%i) : (index) -> ()
    }) {callee = @tick} : () -> !hir.results_t
  }) : (index, index, index) -> ()
}) {sym_name = "loop", function_type = (index, index) -> ()} : () -> ()

// -----

// CHECK-LABEL: func.func private @hirc_body_branch(
// CHECK-SAME:      %[[FLAG:.*]]: i1, %[[X:.*]]: memref<8xf32>, %[[STREAM:.*]]: !llvm.ptr)
// CHECK:         %[[PINNED:.*]] = llvm.mlir.constant(1 : i32)
// CHECK:         %[[NUMBER:.*]] = arith.select %[[FLAG]], %c1, %c2
// CHECK:         %[[BUFFER:.*]] = scf.if %[[FLAG]] -> (memref<8xf32>) {
// CHECK:           %[[SIDE:.*]] = llvm.call @hirc_stream_named(
// CHECK:           llvm.call @hirc_allocate(%{{.*}}, %[[PINNED]], %[[SIDE]], %{{.*}})
// CHECK:         } else {
// CHECK:           llvm.call @hirc_allocate(%{{.*}}, %[[PINNED]], %[[STREAM]], %{{.*}})
// CHECK:         %[[FIELDS:.*]] = builtin.unrealized_conversion_cast %[[BUFFER]]
// CHECK:         %[[MEMORY:.*]] = llvm.extractvalue %[[FIELDS]][0]
// CHECK:         llvm.call @hirc_free(%[[MEMORY]], %[[PINNED]], %[[STREAM]], %{{.*}})
// CHECK:         return %[[NUMBER]]
"hir.program"() ({
^bb0(%flag: i1, %x: memref<8xf32>):
  %results = "hir.if"(%flag) ({
    %one = arith.constant 1 : index
    %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
    "hir.set_stream"(%side) : (!hir.stream_t) -> ()
    %y = "hir.allocate"() {memory = "pinned"} : () -> memref<8xf32>
    "hir.output"(%y) : (memref<8xf32>) -> ()
    "hir.output"(%one) : (index) -> ()
  }, {
    %two = arith.constant 2 : index
    %y = "hir.allocate"() {memory = "pinned"} : () -> memref<8xf32>
    "hir.output"(%y) : (memref<8xf32>) -> ()
    "hir.output"(%two) : (index) -> ()
  }) : (i1) -> !hir.results_t
  %y = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
  %n = "hir.result"(%results) {index = 1 : i64} : (!hir.results_t) -> index
  "hir.deallocate"(%y) : (memref<8xf32>) -> ()
  "hir.output"(%n) : (index) -> ()
}) {sym_name = "branch", function_type = (i1, memref<8xf32>) -> index} : () -> ()

// -----

// A condition, and the bound, may end the loop; the rest of the iteration runs.
// CHECK-LABEL: func.func private @hirc_body_until(
// CHECK-SAME:      %[[N:.*]]: index, %[[C:.*]]: i1, %[[D:.*]]: i1,
// CHECK:         scf.while (%[[I:.*]] = %c0, %[[OVER:.*]] = %false) : (index, i1) -> index {
// CHECK:           %[[WITHIN:.*]] = arith.cmpi slt, %[[I]], %[[N]]
// CHECK:           %[[GOES:.*]] = arith.select %[[OVER]], %false, %[[WITHIN]]
// CHECK:           scf.condition(%[[GOES]]) %[[I]]
// CHECK:         ^bb0(%[[J:.*]]: index):
// CHECK:           llvm.call @tick(%{{.*}}, %{{.*}})
// CHECK:           %[[NEXT:.*]] = arith.addi %[[J]], %c2
// CHECK:           %[[EITHER:.*]] = arith.ori %[[C]], %[[D]]
// CHECK:           scf.yield %[[NEXT]], %[[EITHER]]
"hir.program"() ({
^bb0(%n: index, %c: i1, %d: i1):
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  "hir.for"(%zero, %n, %two) ({
  ^bb0(%i: index):
    "hir.stop_loop"(%c) : (i1) -> ()
    %nothing = "hir.host_call"() ({
      "hir.argument"(%i) : (index) -> ()
    }) {callee = @tick} : () -> !hir.results_t
    "hir.stop_loop"(%d) : (i1) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "until", function_type = (index, i1, i1) -> ()} : () -> ()

// RUN: hirc %s --emit=shared --offload-arch=cpu --graph=always --stop-after=interface -o - | FileCheck %s
// RUN: hirc %s --emit=shared --offload-arch=cpu --stop-after=interface -o - | FileCheck %s --check-prefix=NEVER
// NEVER-NOT: hirc_guard_graph

// Kernels, memory, named streams, loops and branches are part of a graph.
// CHECK-LABEL: llvm.func @hirc_program_replayed(
// CHECK:         llvm.call @hirc_guard_graph(
// CHECK-LABEL: llvm.func @hirc_guarded_replayed(
// CHECK:         call @hirc_body_replayed(
// Its launches follow from its arguments.
// CHECK:       llvm.mlir.global external constant @hirc_program_replayed_info()
// CHECK:         llvm.mlir.constant(4 : i32)
// CHECK-NEXT:    llvm.mlir.constant(1 : i32)
"hir.program"() ({
^bb0(%x: memref<?xf32>, %n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    "hir.unary"(%y, %y) {kind = "abs"} : (memref<?xf32>, memref<?xf32>) -> ()
  }) : (index, index, index) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "replayed", inputs = [{name = "x"}, {name = "n"}],
    function_type = (memref<?xf32>, index) -> memref<?xf32>} : () -> ()

// The host waits.
// CHECK-LABEL: llvm.func @hirc_program_waits(
// CHECK:         llvm.call @hirc_guard(
// CHECK:       llvm.mlir.global external constant @hirc_program_waits_info()
// CHECK:         llvm.mlir.constant(4 : i32)
// CHECK-NEXT:    llvm.mlir.constant(0 : i32)
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  "hir.synchronize"() : () -> ()
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "waits", inputs = [{name = "x"}],
    function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()

// A C function is called.
// CHECK-LABEL: llvm.func @hirc_program_calls(
// CHECK:         llvm.call @hirc_guard(
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  %r = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<?xf32>) -> ()
  }) {callee = @told, result_types = []} : () -> !hir.results_t
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "calls", inputs = [{name = "x"}],
    function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()

// Nothing is launched.
// CHECK-LABEL: llvm.func @hirc_program_same(
// CHECK:         llvm.call @hirc_guard(
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  "hir.output"(%x) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "same", inputs = [{name = "x"}],
    function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

"hir.program"() ({
^bb0(%x: memref<?x4xf32>, %scale: f32):
  %y = "hir.binary"(%x, %scale) {kind = "mul"} : (memref<?x4xf32>, f32) -> memref<?x4xf32>
  "hir.output"(%y) : (memref<?x4xf32>) -> ()
  "hir.output"(%scale) : (f32) -> ()
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
}) {sym_name = "layer", function_type = (memref<?x4xf32>, f32)
    -> (memref<?x4xf32>, f32, memref<?x4xf32>)} : () -> ()
// CHECK: "hir.call"
// CHECK-NEXT: "hir.argument"(%[[X:.*]]) : (memref<?x4xf32>) -> ()
// CHECK-NEXT: "hir.argument"(%[[S:.*]]) : (f32) -> ()
// CHECK: "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[X]]) : (memref<?x4xf32>) -> ()
// CHECK-NEXT: "hir.argument"(%[[S]]) : (f32) -> ()
"hir.program"() ({
^bb0(%x: memref<?x4xf32>, %s: f32):
  %r = "hir.call"() ({
    "hir.argument"(%x) : (memref<?x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {callee = @layer} : () -> !hir.results_t
  %r2 = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<?x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {callee = @note} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<?x4xf32>, f32) -> ()} : () -> ()

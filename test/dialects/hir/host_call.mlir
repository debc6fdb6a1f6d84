// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.host_call"() ({
// CHECK-NEXT: "hir.argument"
// CHECK-NEXT: }) {callee = @count, result_types = [i64]} : () -> !hir.results_t
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %r = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
  }) {callee = @count, result_types = [i64]} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

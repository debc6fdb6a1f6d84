// RUN: hirc-opt %s | hirc-opt | FileCheck %s

"hir.program"() ({
^bb0(%x: memref<?x4xf32>, %scale: f32):
  %y = "hir.binary"(%x, %scale) {kind = "mul"} : (memref<?x4xf32>, f32) -> memref<?x4xf32>
  "hir.output"(%y) : (memref<?x4xf32>) -> ()
  "hir.output"(%scale) : (f32) -> ()
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
}) {sym_name = "layer", function_type = (memref<?x4xf32>, f32)
    -> (memref<?x4xf32>, f32, memref<?x4xf32>)} : () -> ()
// CHECK: "hir.call"() ({
// CHECK-NEXT: "hir.argument"(%{{.*}}) : (memref<8x4xf32>) -> ()
// CHECK-NEXT: "hir.argument"(%{{.*}}) : (f32) -> ()
// CHECK-NEXT: "hir.argument"(%{{.*}}) {destination = 0 : i64} : (memref<8x4xf32>) -> ()
// CHECK-NEXT: }) {callee = @layer} : () -> !hir.results_t
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %r = "hir.call"() ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
    "hir.argument"(%y) {destination = 0 : i64} : (memref<8x4xf32>) -> ()
  }) {callee = @layer} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

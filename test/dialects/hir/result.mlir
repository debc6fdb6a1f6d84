// RUN: hirc-opt %s | hirc-opt | FileCheck %s

"hir.program"() ({
^bb0(%x: memref<?x4xf32>, %scale: f32):
  %y = "hir.binary"(%x, %scale) {kind = "mul"} : (memref<?x4xf32>, f32) -> memref<?x4xf32>
  "hir.output"(%y) : (memref<?x4xf32>) -> ()
  "hir.output"(%scale) : (f32) -> ()
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
}) {sym_name = "layer", function_type = (memref<?x4xf32>, f32)
    -> (memref<?x4xf32>, f32, memref<?x4xf32>)} : () -> ()
// CHECK: "hir.result"(%{{.*}}) {index = 0 : i64} : (!hir.results_t) -> memref<8x4xf32, strided<[?, ?], offset: ?>>
// CHECK: "hir.result"(%{{.*}}) {index = 1 : i64} : (!hir.results_t) -> f32
// CHECK: "hir.result"(%{{.*}}) {index = 0 : i64} : (!hir.results_t) -> memref<8x4xf32>
// CHECK: "hir.result"(%{{.*}}) {index = 0 : i64} : (!hir.results_t) -> i64
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %r = "hir.call"() ({
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {callee = @layer} : () -> !hir.results_t
  %a = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<8x4xf32, strided<[?, ?], offset: ?>>
  %b = "hir.result"(%r) {index = 1 : i64} : (!hir.results_t) -> f32
  %yes = arith.constant true
  %r1 = "hir.if"(%yes) ({
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }, {
    "hir.output"(%y) : (memref<8x4xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %c = "hir.result"(%r1) {index = 0 : i64} : (!hir.results_t) -> memref<8x4xf32>
  %r2 = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
  }) {callee = @count, result_types = [i64]} : () -> !hir.results_t
  %d = "hir.result"(%r2) {index = 0 : i64} : (!hir.results_t) -> i64
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

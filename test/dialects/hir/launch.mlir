// RUN: hirc-opt %s | hirc-opt | FileCheck %s

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, block = array<i64: 128, 1, 1>,
  cluster = array<i64: 2, 1, 1>, shared_bytes = 64 : i64} : () -> ()
// A kernel sees f32 for tf32.
// CHECK: "hir.launch"
// CHECK: cluster = array<i64: 2, 1, 1>, kernel = @kernels::@scale
// CHECK-SAME: !hir.stream_t) -> ()
// CHECK: "hir.launch"
// CHECK: kernel = @k
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n, %side) ({
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @kernels::@scale, cluster = array<i64: 2, 1, 1>}
    : (index, index, index, index, index, index, index, !hir.stream_t) -> ()
  %threads = arith.constant 128 : index
  %one = arith.constant 1 : index
  "hir.launch"(%n, %n, %n, %threads, %one, %one, %n) ({
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @k} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

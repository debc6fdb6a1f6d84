// RUN: hirc-opt %s | hirc-opt | FileCheck %s

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// CHECK: "hir.kernel"() {block = array<i64: 128, 1, 1>, cluster = array<i64: 2, 1, 1>, function = @kernels::@scale, shared_bytes = 1024 : i64, sym_name = "k", writes = array<i64: 0>}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, block = array<i64: 128, 1, 1>,
  cluster = array<i64: 2, 1, 1>, shared_bytes = 1024 : i64, writes = array<i64: 0>} : () -> ()

// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'gpu.module(expand-all-reduce)'

gpu.module @kernels {
  gpu.func @several_blocks(%x: i32, %out: memref<i32>) kernel {
    // expected-error @below {{the body of 'gpu.all_reduce' must be a single block to be lowered}}
    %r = gpu.all_reduce %x {
    ^bb(%a: i32, %b: i32):
      cf.br ^next(%a : i32)
    ^next(%c: i32):
      gpu.yield %c : i32
    } : (i32) -> i32
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }
}

// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'gpu.module(expand-subgroup-reduce)'

gpu.module @kernels {
  gpu.func @large_cluster(%x: i32, %out: memref<i32>) kernel {
    // expected-error @below {{a cluster of 16 lanes, 4 apart, does not fit in a warp of 32 lanes}}
    %r = gpu.subgroup_reduce add %x cluster(size = 16, stride = 4) : (i32) -> i32
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }
}

// RUN: hirc-opt %s -p 'gpu.module(expand-all-reduce{warp-lanes=64},expand-subgroup-reduce{warp-lanes=64},expand-subgroup-id{warp-lanes=64})' | FileCheck %s

// What counts lanes counts 64 where wavefronts have as many.

gpu.module @m {
  // CHECK-LABEL: gpu.func @whole
  // CHECK:         %[[C64:.*]] = arith.constant 64 : i32
  // CHECK:         gpu.shuffle xor %{{.*}}, %{{.*}}, %[[C64]] : f32
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK-NOT:     gpu.shuffle
  gpu.func @whole(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = gpu.subgroup_reduce add %x : (f32) -> f32
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }

  // Of 96 threads the second wavefront has half its lanes: the reduction meets in shared memory.
  // CHECK-LABEL: gpu.func @block
  // CHECK-DAG:     %[[LAST:.*]] = arith.constant 63 : i32
  // CHECK-DAG:     %[[SHIFT:.*]] = arith.constant 6 : i32
  // CHECK:         arith.shrui %{{.*}}, %{{.*}} : i32
  // CHECK-COUNT-6: gpu.shuffle down
  // CHECK:         gpu.barrier
  // CHECK-COUNT-1: gpu.shuffle down
  // CHECK:         gpu.barrier
  gpu.func @block(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 96, 1, 1>} {
    %r = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }

  // A block of 64 threads is one wavefront, and two warps.
  // CHECK-LABEL: gpu.func @one
  // CHECK-NOT:     gpu.barrier
  // CHECK:         %[[COUNT:.*]] = arith.constant 1 : index
  // CHECK:         memref.store %[[COUNT]]
  gpu.func @one(%x: f32, %out: memref<f32>, %count: memref<index>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %r = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %r, %out[] : memref<f32>
    %n = gpu.num_subgroups : index
    memref.store %n, %count[] : memref<index>
    gpu.return
  }
}

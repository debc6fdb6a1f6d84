// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90,sm_86 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: shared_memory.mlir:[[# @LINE + 7]]:3: error: 150000 bytes of shared memory a block; the chips this is built for have 101376
// CHECK: stage 'runtime-calls'
module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k() kernel { gpu.return } }
func.func @main() {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant 150000 : i32
  gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %bytes
  return
}
}

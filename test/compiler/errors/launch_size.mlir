// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: launch_size.mlir:[[# @LINE + 8]]:3: error: a block of 2048 threads; CUDA takes at most 1024
// CHECK: stage 'runtime-calls'
module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k() kernel { gpu.return } }
func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c1024 = arith.constant 1024 : index
  gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1024, %c2, %c1)
  return
}
}

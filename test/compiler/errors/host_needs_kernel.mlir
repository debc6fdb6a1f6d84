// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: host_needs_kernel.mlir:[[# @LINE + 5]]:3: error: 'gpu.barrier' has no host lowering; inside a kernel it belongs in a gpu.launch body or a gpu.func
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: ^
// CHECK-NEXT: stage 'runtime-calls'
func.func @main() {
  gpu.barrier
  return
}

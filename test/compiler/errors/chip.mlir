// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90,sm_80 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// Every chip named has to have what the program uses.
// CHECK: chip.mlir:[[# @LINE + 6]]:7: error: 'nvvm.cluster.wait' op is not supported on sm_80
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: stage 'device'
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel {
      nvvm.cluster.wait
      gpu.return
    }
  }
}

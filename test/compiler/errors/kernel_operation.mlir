// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: kernel_operation.mlir:[[# @LINE + 7]]:{{[0-9]+}}: error: '{{tensor|memref}}.{{[a-z_]+}}'
// CHECK: in {{.*}}stage 'device'
// CHECK: hint:
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%n: index) kernel {
      %0 = memref.alloc(%n) : memref<?xf32>
      %1 = tensor.empty() : tensor<4xf32>
      %2 = tensor.extract %1[%n] : tensor<4xf32>
      memref.store %2, %0[%n] : memref<?xf32>
      gpu.return
    }
  }
}

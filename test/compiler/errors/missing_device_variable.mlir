// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_80 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: missing_device_variable.mlir:[[# @LINE + 10]]:12: error: device variable 'elsewhere' is used in gpu.module 'm' and defined nowhere
// CHECK-NEXT: memref.get_global @elsewhere
// CHECK-NEXT: ^
// CHECK: stage 'device-code'
// CHECK: hint: give it a value in the gpu.module, or `= uninitialized` for memory alone
module attributes {gpu.container_module} {
  gpu.module @m {
    memref.global "private" @elsewhere : memref<4xf32>
    memref.global "private" @tile : memref<4xf32, #gpu.address_space<workgroup>>
    gpu.func @k(%i: index, %m: memref<4xf32>) kernel {
      %g = memref.get_global @elsewhere : memref<4xf32>
      %tile = memref.get_global @tile : memref<4xf32, #gpu.address_space<workgroup>>
      %v = memref.load %g[%i] : memref<4xf32>
      memref.store %v, %tile[%i] : memref<4xf32, #gpu.address_space<workgroup>>
      %w = memref.load %tile[%i] : memref<4xf32, #gpu.address_space<workgroup>>
      memref.store %w, %m[%i] : memref<4xf32>
      gpu.return
    }
  }
}

// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: missing_device_function.mlir:[[# @LINE + 8]]:12: error: device function 'elsewhere' is called in gpu.module 'm' and defined nowhere
// CHECK-NEXT: %0 = func.call @elsewhere(%x) : (f32) -> f32
// CHECK: stage 'device-code'
// CHECK: hint: define it in the gpu.module, or give the bitcode that has it with --device-lib
module attributes {gpu.container_module} {
  gpu.module @m {
    func.func private @elsewhere(f32) -> f32
    gpu.func @k(%x: f32, %m: memref<f32>) kernel {
      %0 = func.call @elsewhere(%x) : (f32) -> f32
      memref.store %0, %m[] : memref<f32>
      gpu.return
    }
  }
}

// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: unknown_intrinsic.mlir:[[# @LINE + 6]]:7: error: could not find LLVM intrinsic: "llvm.nvvm.no.such"
// CHECK-NEXT: llvm.call_intrinsic
// CHECK: in stage 'device-code'
module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
      llvm.call_intrinsic "llvm.nvvm.no.such"(%x) : (f32) -> ()
      llvm.return
    }
  }
}

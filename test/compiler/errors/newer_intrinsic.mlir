// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: newer_intrinsic.mlir:[[# @LINE + 8]]:7: error: intrinsic 'llvm.nvvm.not.yet' is newer than the LLVM that generates code
// CHECK-NEXT: llvm.call @llvm.nvvm.not.yet
// CHECK: in stage 'device-code'
// CHECK: hint: spell the operation with inline PTX (nvvm.inline_ptx) or a lower-level nvvm op
module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @llvm.nvvm.not.yet(i32)
    llvm.func @k(%n: i32) attributes {gpu.kernel, nvvm.kernel} {
      llvm.call @llvm.nvvm.not.yet(%n) : (i32) -> ()
      llvm.return
    }
  }
}

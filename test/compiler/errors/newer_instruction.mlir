// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: newer_instruction.mlir:[[# @LINE + 6]]:5: error: atomicrmw fmaximumnum and fminimumnum needs LLVM {{[0-9]+}}, and LLVM 22 makes the code (in function 'k')
// CHECK: in stage 'device-code'
// CHECK: note: {{.*}}atomicrmw fmaximumnum
// CHECK: hint: use fmax or fmin, or a loop of compare and exchange
module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(%p: !llvm.ptr, %x: f32) attributes {gpu.kernel, nvvm.kernel} {
      %0 = llvm.atomicrmw fmaximumnum %p, %x monotonic : !llvm.ptr, f32
      llvm.return
    }
  }
}

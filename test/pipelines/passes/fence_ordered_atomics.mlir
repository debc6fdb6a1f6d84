// RUN: hirc-opt %s -p 'gpu.module(fence-ordered-atomics)' | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX

gpu.module @m {
  // Each ordering gets the fences it needs, at its own scope.
  // CHECK-LABEL: llvm.func @orderings
  // CHECK-NOT:     llvm.fence
  // CHECK:         llvm.atomicrmw xchg %{{.*}} monotonic
  // CHECK-NEXT:    llvm.atomicrmw add %{{.*}} syncscope("device") monotonic
  // CHECK-NEXT:    llvm.fence syncscope("device") acquire
  // CHECK-NEXT:    llvm.fence syncscope("block") release
  // CHECK-NEXT:    llvm.atomicrmw umax %{{.*}} syncscope("block") monotonic
  // CHECK-NEXT:    llvm.fence release
  // CHECK-NEXT:    llvm.atomicrmw fadd %{{.*}} monotonic
  // CHECK-NEXT:    llvm.fence acquire
  // CHECK-NEXT:    llvm.fence syncscope("cluster") seq_cst
  // CHECK-NEXT:    llvm.atomicrmw uinc_wrap %{{.*}} syncscope("cluster") monotonic
  // CHECK-NEXT:    llvm.fence syncscope("cluster") acquire
  // The code generator honours the ordering of this one.
  // CHECK-NEXT:    llvm.cmpxchg %{{.*}} seq_cst acquire
  // CHECK-NEXT:    llvm.return

  // PTX:       atom.global.exch.b32
  // PTX:       atom.global.add.u32
  // PTX-NEXT:  fence.acquire.gpu
  // PTX-NEXT:  fence.release.cta
  // PTX-NEXT:  atom.global.max.u32
  // PTX-NEXT:  fence.release.sys
  // PTX:       atom.global.add.f32
  // PTX-NEXT:  fence.acquire.sys
  // PTX-NEXT:  fence.sc.cluster
  // PTX-NEXT:  atom.global.inc.u32
  // PTX-NEXT:  fence.acquire.cluster
  // PTX-NEXT:  fence.sc.sys
  // PTX-NEXT:  atom.acquire.sys.global.cas.b32
  llvm.func @orderings(%p: !llvm.ptr, %i: i32, %f: f32) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.atomicrmw xchg %p, %i monotonic : !llvm.ptr, i32
    %1 = llvm.atomicrmw add %p, %i syncscope("device") acquire : !llvm.ptr, i32
    %2 = llvm.atomicrmw umax %p, %i syncscope("block") release : !llvm.ptr, i32
    %3 = llvm.atomicrmw fadd %p, %f acq_rel : !llvm.ptr, f32
    %4 = llvm.atomicrmw uinc_wrap %p, %i syncscope("cluster") seq_cst : !llvm.ptr, i32
    %5 = llvm.cmpxchg %p, %i, %i seq_cst acquire : !llvm.ptr, i32
    llvm.return
  }
}

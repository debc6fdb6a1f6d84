// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'gpu.module(fence-ordered-atomics)'

gpu.module @m {
  llvm.func @of_another_target(%p: !llvm.ptr, %i: i32) {
    // expected-error @below {{'llvm.atomicrmw' has the unknown scope 'agent'; device code has 'singlethread', 'block', 'cluster', 'device', and the whole system where none is given}}
    %0 = llvm.atomicrmw add %p, %i syncscope("agent") monotonic : !llvm.ptr, i32
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @misspelt(%p: !llvm.ptr) {
    // expected-error @below {{'llvm.fence' has the unknown scope 'blok'}}
    llvm.fence syncscope("blok") acquire
    llvm.return
  }
}

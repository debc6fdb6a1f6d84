// RUN: hirc-opt %s --verify-diagnostics -p 'gpu.module(name-atomic-scopes)'

gpu.module @m {
  llvm.func @cluster() {
    // expected-error @below {{'llvm.fence' has the unknown scope 'cluster'; AMD's chips have 'singlethread', 'wavefront', 'workgroup', 'agent', 'block', 'device', and the whole system where none is given}}
    llvm.fence syncscope("cluster") release
    llvm.return
  }
}

// RUN: hirc-opt %s -p 'gpu.module(verify-chips{chips=sm_90a+sm_80})' --verify-diagnostics

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @below {{'nvvm.cluster.wait' op is not supported on sm_80}}
    nvvm.cluster.wait
    llvm.return
  }
}

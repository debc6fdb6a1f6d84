// RUN: hirc-opt %s -p 'gpu.module(verify-chips{chips=sm_90+sm_90a})' | FileCheck %s
// RUN: hirc-opt %s -p 'gpu.module(verify-chips)' | FileCheck %s

// The module has no target afterwards, not even one it had.
// CHECK: gpu.module @m {
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @k() {
    llvm.return
  }
}

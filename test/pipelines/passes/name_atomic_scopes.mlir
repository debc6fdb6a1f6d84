// RUN: hirc-opt %s -p 'gpu.module(name-atomic-scopes)' | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: llvm.func @scopes
  // CHECK:         llvm.fence syncscope("workgroup") release
  // CHECK:         llvm.fence syncscope("agent") acquire
  // CHECK:         llvm.fence syncscope("wavefront") acquire
  // CHECK:         llvm.fence seq_cst
  llvm.func @scopes() {
    llvm.fence syncscope("block") release
    llvm.fence syncscope("device") acquire
    llvm.fence syncscope("wavefront") acquire
    llvm.fence seq_cst
    llvm.return
  }
}

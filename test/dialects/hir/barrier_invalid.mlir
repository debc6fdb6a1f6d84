// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8xf32>) {
  // expected-error @below {{the buffer of hir.barrier is what a hir.allocate with memory = "symmetric" and a 'team' gives in this program, or a view of it}}
  "hir.barrier"(%x) : (memref<8xf32>) -> ()
  return
}

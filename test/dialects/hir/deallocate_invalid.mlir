// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%n: index) {
  // expected-error @below {{hir.deallocate: the operand is a buffer; index is no memref}}
  "hir.deallocate"(%n) : (index) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4xf32>) {
  // expected-error @below {{hir.deallocate: it takes 1 operand, not 2}}
  "hir.deallocate"(%x, %x) : (memref<8x4xf32>, memref<8x4xf32>) -> ()
  return
}

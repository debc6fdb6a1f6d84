// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'own-branch-results'

func.func @view(%x: memref<8xf32>, %z: memref<8xf32>, %c: i1) attributes {hir.program} {
  %y = scf.if %c -> memref<4xf32, strided<[2]>> {
    %v = memref.subview %x[0] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2]>>
    // expected-error @below {{a branch that gives a view of other tensors, memref<4xf32, strided<[2]>>: copy it (linalg.copy) in both}}
    scf.yield %v : memref<4xf32, strided<[2]>>
  } else {
    %w = memref.subview %z[0] [4] [2] : memref<8xf32> to memref<4xf32, strided<[2]>>
    scf.yield %w : memref<4xf32, strided<[2]>>
  }
  linalg.exp ins(%y : memref<4xf32, strided<[2]>>) outs(%y : memref<4xf32, strided<[2]>>)
  return
}

// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p convert-func-to-hir

// expected-error @+1 {{a function with branches (cf) is no host program; use scf.if and scf.for}}
func.func @main(%x: memref<4xf32>) attributes {hir.program} {
  cf.br ^end
^end:
  return
}

// -----

func.func @main(%x: memref<4xf32>, %n: index) -> f32 attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{an scf.for that carries scalars, or buffers that it cannot update in place, is no host loop}}
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %t = arith.addf %s, %s : f32
    scf.yield %t : f32
  }
  return %sum : f32
}

// -----

func.func @main(%x: memref<4xf32>, %n: index) attributes {hir.program} {
  // expected-error @+1 {{scf.forall is no operation of the host in a function on tensors: use linalg.generic, or scf.for}}
  scf.forall (%i) in (%n) {
  }
  return
}

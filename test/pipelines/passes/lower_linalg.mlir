// RUN: hirc-opt -p lower-linalg --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @copy
// CHECK:         scf.for
// CHECK-NOT:     linalg
func.func @copy(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.copy ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// A module without such operations is left as it is: constants stay where they are.

// CHECK-LABEL: func.func @none
// CHECK-NEXT:    %[[A:.*]] = memref.load
// CHECK-NEXT:    arith.constant 1
func.func @none(%x: memref<f32>) -> f32 {
  %a = memref.load %x[] : memref<f32>
  %one = arith.constant 1.0 : f32
  %r = arith.addf %a, %one : f32
  return %r : f32
}

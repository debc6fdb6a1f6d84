// RUN: hirc-opt %s -p check-tensor-operations | FileCheck %s

// What is left to one-shot-bufferize, and what is no host program.

// CHECK-LABEL: func.func @main
// CHECK: tensor.extract_slice
// CHECK: scf.if
func.func @main(%x: tensor<4x8xf32>, %holds: i1) -> tensor<2x8xf32> attributes {hir.program} {
  %y = tensor.extract_slice %x[0, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  %e = ub.poison : tensor<2x8xf32>
  %z = scf.if %holds -> tensor<2x8xf32> {
    %n = linalg.negf ins(%y : tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
    scf.yield %n : tensor<2x8xf32>
  } else {
    scf.yield %y : tensor<2x8xf32>
  }
  return %z : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @other
// CHECK: tosa.abs
func.func @other(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = tosa.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

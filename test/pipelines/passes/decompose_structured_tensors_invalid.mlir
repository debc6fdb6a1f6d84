// RUN: hirc-opt %s --decompose-structured-tensors --verify-diagnostics

func.func @softmax(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  // expected-error @below {{linalg.softmax on buffers has no kernel: use it on tensors}}
  linalg.softmax dimension(1) ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>)
  return
}

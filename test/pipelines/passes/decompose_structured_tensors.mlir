// RUN: hirc-opt %s --decompose-structured-tensors | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-NOT:     linalg.softmax
// CHECK:         arith.maxnumf
// CHECK:         math.exp
// CHECK:         arith.addf
// CHECK:         arith.divf
func.func @softmax(%x: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @pack
// CHECK-NOT:     linalg.pack
// CHECK:         tensor.expand_shape
// CHECK:         linalg.transpose
func.func @pack(%x: tensor<8x16xf32>, %e: tensor<1x4x8x4xf32>) -> tensor<1x4x8x4xf32> {
  %y = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %e : tensor<8x16xf32> -> tensor<1x4x8x4xf32>
  return %y : tensor<1x4x8x4xf32>
}

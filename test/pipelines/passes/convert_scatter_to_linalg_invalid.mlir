// RUN: hirc-opt %s -p convert-scatter-to-linalg --verify-diagnostics

func.func @other(%x: tensor<5xf32>, %v: tensor<3xf32>, %i: tensor<3x1xi64>) -> tensor<5xf32> {
  // expected-error @+1 {{a scatter writes, or combines by one operation of arith, such as arith.addf}}
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%v, %i : tensor<3xf32>, tensor<3x1xi64>) outs(%x : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %b, %a : f32
    tm_tensor.yield %s : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

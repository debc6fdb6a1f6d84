// RUN: hirc-opt %s -p convert-sort-to-linalg --verify-diagnostics

func.func @other(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{a sort compares the elements of its first tensor by arith.cmpf or arith.cmpi}}
  %r = tm_tensor.sort dimension(0) outs(%x : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf oeq, %a, %b : f32
    tm_tensor.yield %p : i1
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

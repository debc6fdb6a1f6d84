// A dense constant of complex numbers, an attribute that the bindings have no class for.
//
// RUN: hirc-opt %s -p normalize-tensor-operations | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// CHECK: arith.constant dense<[(1.000000e+00,0.000000e+00), (0.000000e+00,1.000000e+00)]> : tensor<2xcomplex<f32>>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<[(1.0, 0.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %e = tensor.empty() : tensor<2xf32>
  // CHECK: linalg.generic
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %c : tensor<2xf32>, tensor<2xcomplex<f32>>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %b: complex<f32>, %o: f32):
    %re = complex.re %b : complex<f32>
    %s = arith.addf %a, %re : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

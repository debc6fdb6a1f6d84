// RUN: hirc-opt %s --check-tensor-views --verify-diagnostics

// Upstream's verifier looks at the first and the last iteration of all loops.
func.func @apart(%x: tensor<3xf32>, %y: tensor<3x3xf32>) -> tensor<3x3xf32>
    attributes {hir.program} {
  // expected-error @+1 {{dim 0 of operand 0 of linalg.generic is read or written at index -2}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i - j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<3xf32>) outs(%y : tensor<3x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// RUN: hirc-opt %s --keep-unwritten-elements --verify-diagnostics

func.func @beside(%x: tensor<?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {hir.program} {
  // expected-error @+1 {{dim 1 of an output has an open size and is not indexed by one loop alone: write its elements by tensor.insert or tensor.insert_slice}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i + 1)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%w : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

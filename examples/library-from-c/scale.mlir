// y = x * factor, for any number of elements.
func.func @scale(%x: tensor<?xf32> {hir.name = "x"}, %factor: f32 {hir.name = "factor"})
    -> (tensor<?xf32> {hir.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%element: f32, %unused: f32):
    %scaled = arith.mulf %element, %factor : f32
    linalg.yield %scaled : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

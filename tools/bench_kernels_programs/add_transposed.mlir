// x + transpose(y).
func.func @$name(%x: tensor[R C $T], %y: tensor[C R $T]) -> tensor[R C $T] {
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %R = tensor.dim %x, %c0 : tensor[R C $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[R C $T] // dynamic
  %R_y = tensor.dim %y, %c1 : tensor[C R $T] // dynamic
  %rows_equal = arith.cmpi eq, %R, %R_y : index // dynamic
  cf.assert %rows_equal, "mismatched size for broadcast" // dynamic
  %C_y = tensor.dim %y, %c0 : tensor[C R $T] // dynamic
  %columns_equal = arith.cmpi eq, %C, %C_y : index // dynamic
  cf.assert %columns_equal, "mismatched size for broadcast" // dynamic
  %empty = empty[R C $T]
  %transposed = linalg.transpose ins(%y : tensor[C R $T]) outs(%empty : tensor[R C $T])
      permutation = [1, 0]
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %transposed : tensor[R C $T], tensor[R C $T]) outs(%empty : tensor[R C $T]) {
  ^bb0(%a: $T, %b: $T, %out: $T):
    %0 = arith.addf %a, %b : $T
    linalg.yield %0 : $T
  } -> tensor[R C $T]
  return %sum : tensor[R C $T]
}

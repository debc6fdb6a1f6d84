func.func @$name(%x: tensor[N $T], %y: tensor[N $T]) -> tensor[N $T] {
  %c0 = arith.constant 0 : index // dynamic
  %N = tensor.dim %x, %c0 : tensor[N $T] // dynamic
  %N_y = tensor.dim %y, %c0 : tensor[N $T] // dynamic
  %equal = arith.cmpi eq, %N, %N_y : index // dynamic
  cf.assert %equal, "mismatched size for broadcast" // dynamic
  %empty = empty[N $T]
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x, %y : tensor[N $T], tensor[N $T]) outs(%empty : tensor[N $T]) {
  ^bb0(%a: $T, %b: $T, %out: $T):
    %0 = arith.addf %a, %b : $T
    linalg.yield %0 : $T
  } -> tensor[N $T]
  return %sum : tensor[N $T]
}

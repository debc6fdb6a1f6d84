// Over rows: the place of the first of the largest.
func.func @$name(%x: tensor[R C $T]) -> tensor[R i64] {
  %zero_place = arith.constant 0 : i64
  %infinity = arith.constant $lowest : $T
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %R = tensor.dim %x, %c0 : tensor[R C $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[R C $T] // dynamic
  %empty_places = empty[R i64]
  %places = linalg.fill ins(%zero_place : i64) outs(%empty_places : tensor[R i64]) -> tensor[R i64]
  %empty_row = empty[R $T]
  %lowest = linalg.fill ins(%infinity : $T) outs(%empty_row : tensor[R $T]) -> tensor[R $T]
  %max:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor[R C $T]) outs(%lowest, %places : tensor[R $T], tensor[R i64]) {
  ^bb0(%a: $T, %out: $T, %place: i64):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.maximumf %a, %out : $T
    %3 = arith.cmpf ogt, %a, %out : $T
    %4 = arith.select %3, %1, %place : i64
    linalg.yield %2, %4 : $T, i64
  } -> (tensor[R $T], tensor[R i64])
  return %max#1 : tensor[R i64]
}

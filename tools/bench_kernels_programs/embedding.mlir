func.func @$name(%tokens: tensor[N i64], %table: tensor[V C $T]) -> tensor[N C $T] {
  %zero = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = tensor.dim %tokens, %c0 : tensor[N i64] // dynamic
  %V = tensor.dim %table, %c0 : tensor[V C $T] // dynamic
  %V = arith.constant $V : index // static
  %C = tensor.dim %table, %c1 : tensor[V C $T] // dynamic
  %empty = empty[N C $T]
  %result = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor[N i64]) outs(%empty : tensor[N C $T]) {
  ^bb0(%t: i64, %out: $T):
    %0 = arith.index_cast %t : i64 to index
    %1 = linalg.index 1 : index
    %2 = arith.cmpi slt, %0, %V : index
    cf.assert %2, "index must be smaller than dim size"
    %3 = arith.cmpi sge, %t, %zero : i64
    cf.assert %3, "index must be larger or equal to 0"
    %4 = tensor.extract %table[%0, %1] : tensor[V C $T]
    linalg.yield %4 : $T
  } -> tensor[N C $T]
  return %result : tensor[N C $T]
}

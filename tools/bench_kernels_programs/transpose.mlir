func.func @$name(%x: tensor[R C $T]) -> tensor[C R $T] {
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %R = tensor.dim %x, %c0 : tensor[R C $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[R C $T] // dynamic
  %empty = empty[C R $T]
  %result = linalg.transpose ins(%x : tensor[R C $T]) outs(%empty : tensor[C R $T])
      permutation = [1, 0]
  return %result : tensor[C R $T]
}

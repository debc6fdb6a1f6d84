// Below one another.
func.func @$name(%x: tensor[R C $T], %y: tensor[R C $T]) -> tensor[RR C $T] {
  %result = tensor.concat dim(0) %x, %y : (tensor[R C $T], tensor[R C $T]) -> tensor[RR C $T]
  return %result : tensor[RR C $T]
}

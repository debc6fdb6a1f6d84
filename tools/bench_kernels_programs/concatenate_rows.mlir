// Beside one another.
func.func @$name(%x: tensor[R C $T], %y: tensor[R C $T]) -> tensor[R CC $T] {
  %result = tensor.concat dim(1) %x, %y : (tensor[R C $T], tensor[R C $T]) -> tensor[R CC $T]
  return %result : tensor[R CC $T]
}

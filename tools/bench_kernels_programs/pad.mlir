// With two zeros at both ends of each row.
func.func @$name(%x: tensor[R C $T]) -> tensor[R CP $T] {
  %zero = arith.constant 0.0 : $T
  %result = tensor.pad %x low[0, 2] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : $T
  } : tensor[R C $T] to tensor[R CP $T]
  return %result : tensor[R CP $T]
}

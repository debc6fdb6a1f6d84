// Along rows.
func.func @$name(%x: tensor[R C $T]) -> tensor[R C $T] {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %R = tensor.dim %x, %c0 : tensor[R C $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[R C $T] // dynamic
  %wide = widen %x : [R C]
  %empty = empty[R C f32]
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor[R C f32]) -> tensor[R C f32]
  %empty_row = empty[R f32]
  %start_row = linalg.fill ins(%zero : f32) outs(%empty_row : tensor[R f32]) -> tensor[R f32]
  %scan:2 = tm_tensor.scan dimension(1) inclusive(true)
      ins(%wide : tensor[R C f32]) outs(%start, %start_row : tensor[R C f32], tensor[R f32]) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    tm_tensor.yield %0 : f32
  } -> tensor[R C f32], tensor[R f32]
  %result = narrow %scan#0 : [R C]
  return %result : tensor[R C $T]
}

// The sum over the middle axis.
func.func @$name(%x: tensor[A B C $T]) -> tensor[A C $T] {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %c2 = arith.constant 2 : index // dynamic
  %A = tensor.dim %x, %c0 : tensor[A B C $T] // dynamic
  %B = tensor.dim %x, %c1 : tensor[A B C $T] // dynamic
  %C = tensor.dim %x, %c2 : tensor[A B C $T] // dynamic
  %wide = widen %x : [A B C]
  %empty = empty[A C f32]
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor[A C f32]) -> tensor[A C f32]
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%wide : tensor[A B C f32]) outs(%start : tensor[A C f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor[A C f32]
  %result = narrow %sum : [A C]
  return %result : tensor[A C $T]
}

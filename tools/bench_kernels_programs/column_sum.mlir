func.func @$name(%x: tensor[R C $T]) -> tensor[C $T] {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %R = tensor.dim %x, %c0 : tensor[R C $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[R C $T] // dynamic
  %wide = widen %x : [R C]
  %empty = empty[C f32]
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor[C f32]) -> tensor[C f32]
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%wide : tensor[R C f32]) outs(%start : tensor[C f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor[C f32]
  %result = narrow %sum : [C]
  return %result : tensor[C $T]
}

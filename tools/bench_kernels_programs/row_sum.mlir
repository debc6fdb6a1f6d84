func.func @$name(%x: tensor[R C $T]) -> tensor[R $T] {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %R = tensor.dim %x, %c0 : tensor[R C $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[R C $T] // dynamic
  %wide = widen %x : [R C]
  %empty = empty[R f32]
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor[R f32]) -> tensor[R f32]
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%wide : tensor[R C f32]) outs(%start : tensor[R f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor[R f32]
  %result = narrow %sum : [R]
  return %result : tensor[R $T]
}

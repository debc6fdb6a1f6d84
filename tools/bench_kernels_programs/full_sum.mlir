func.func @$name(%x: tensor[N $T]) -> tensor[$T] {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index // dynamic
  %N = tensor.dim %x, %c0 : tensor[N $T] // dynamic
  %wide = widen %x : [N]
  %empty = empty[f32]
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor[f32]) -> tensor[f32]
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%wide : tensor[N f32]) outs(%start : tensor[f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor[f32]
  %result = narrow %sum : []
  return %result : tensor[$T]
}

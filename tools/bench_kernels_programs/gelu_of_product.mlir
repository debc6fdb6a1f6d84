// gelu(x * y + x), in its form with erf.
func.func @$name(%x: tensor[N $T], %y: tensor[N $T]) -> tensor[N $T] {
  %root = arith.constant 1.41421354 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index // dynamic
  %N = tensor.dim %x, %c0 : tensor[N $T] // dynamic
  %N_y = tensor.dim %y, %c0 : tensor[N $T] // dynamic
  %equal = arith.cmpi eq, %N, %N_y : index // dynamic
  cf.assert %equal, "mismatched size for broadcast" // dynamic
  %wide_x = widen %x : [N]
  %wide_y = widen %y : [N]
  %empty = empty[N f32]
  %product = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%wide_x, %wide_y : tensor[N f32], tensor[N f32]) outs(%empty : tensor[N f32]) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor[N f32]
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%product, %wide_x : tensor[N f32], tensor[N f32]) outs(%empty : tensor[N f32]) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor[N f32]
  %gelu = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%sum : tensor[N f32]) outs(%empty : tensor[N f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.divf %a, %root : f32
    %1 = math.erf %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.mulf %2, %half : f32
    %4 = arith.mulf %a, %3 : f32
    linalg.yield %4 : f32
  } -> tensor[N f32]
  %result = narrow %gelu : [N]
  return %result : tensor[N $T]
}

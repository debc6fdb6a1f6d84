// gelu(x + bias), in its form with tanh; the bias is a row.
func.func @$name(%x: tensor[R C $T], %bias: tensor[C $T]) -> tensor[R C $T] {
  %three = arith.constant 3 : i64
  %cubic = arith.constant 4.471500e-02 : f32
  %root = arith.constant 0.797884583 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %R = tensor.dim %x, %c0 : tensor[R C $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[R C $T] // dynamic
  %C_bias = tensor.dim %bias, %c0 : tensor[C $T] // dynamic
  %equal = arith.cmpi eq, %C, %C_bias : index // dynamic
  cf.assert %equal, "mismatched size for broadcast" // dynamic
  %wide_x = widen %x : [R C]
  %wide_bias = widen %bias : [C]
  %empty = empty[R C f32]
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%wide_x, %wide_bias : tensor[R C f32], tensor[C f32]) outs(%empty : tensor[R C f32]) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor[R C f32]
  %gelu = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor[R C f32]) outs(%empty : tensor[R C f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.fpowi %a, %three : f32, i64
    %1 = arith.mulf %0, %cubic : f32
    %2 = arith.addf %a, %1 : f32
    %3 = arith.mulf %2, %root : f32
    %4 = math.tanh %3 : f32
    %5 = arith.addf %4, %one : f32
    %6 = arith.mulf %5, %half : f32
    %7 = arith.mulf %a, %6 : f32
    linalg.yield %7 : f32
  } -> tensor[R C f32]
  %result = narrow %gelu : [R C]
  return %result : tensor[R C $T]
}

// Over rows.
func.func @$name(%x: tensor[R C $T]) -> tensor[R C $T] {
  %zero_place = arith.constant 0 : i64
  %infinity = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %R = tensor.dim %x, %c0 : tensor[R C $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[R C $T] // dynamic
  %wide = widen %x : [R C]
  %empty_places = empty[R i64]
  %places = linalg.fill ins(%zero_place : i64) outs(%empty_places : tensor[R i64]) -> tensor[R i64]
  %empty_row = empty[R f32]
  %lowest = linalg.fill ins(%infinity : f32) outs(%empty_row : tensor[R f32]) -> tensor[R f32]
  %max:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%wide : tensor[R C f32]) outs(%lowest, %places : tensor[R f32], tensor[R i64]) {
  ^bb0(%a: f32, %out: f32, %place: i64):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.maximumf %a, %out : f32
    %3 = arith.cmpf ogt, %a, %out : f32
    %4 = arith.select %3, %1, %place : i64
    linalg.yield %2, %4 : f32, i64
  } -> (tensor[R f32], tensor[R i64])
  %column = tensor.expand_shape %max#0 [[0, 1]] output_shape shape[R 1]
      : tensor[R f32] into tensor[R 1 f32]
  %empty = empty[R C f32]
  %shifted = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%wide, %column : tensor[R C f32], tensor[R 1 f32]) outs(%empty : tensor[R C f32]) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor[R C f32]
  %exp = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%shifted : tensor[R C f32]) outs(%empty : tensor[R C f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor[R C f32]
  %empty_column = empty[R 1 f32]
  %start = linalg.fill ins(%zero : f32) outs(%empty_column : tensor[R 1 f32]) -> tensor[R 1 f32]
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor[R C f32]) outs(%start : tensor[R 1 f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor[R 1 f32]
  %log = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor[R 1 f32]) outs(%empty_column : tensor[R 1 f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.log %a : f32
    linalg.yield %0 : f32
  } -> tensor[R 1 f32]
  %difference = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%shifted, %log : tensor[R C f32], tensor[R 1 f32]) outs(%empty : tensor[R C f32]) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor[R C f32]
  %result = narrow %difference : [R C]
  return %result : tensor[R C $T]
}

// Over rows, with weight and bias, the variance in f64: what torch-mlir makes of a layer norm.
func.func @$name(%x: tensor[R C $T], %weight: tensor[C $T], %bias: tensor[C $T])
    -> tensor[R C $T] {
  %zero = arith.constant 0.0 : f32
  %zero_f64 = arith.constant 0.0 : f64
  %epsilon = arith.constant 1.0e-05 : f64
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %R = tensor.dim %x, %c0 : tensor[R C $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[R C $T] // dynamic
  %C_weight = tensor.dim %weight, %c0 : tensor[C $T] // dynamic
  %equal = arith.cmpi eq, %C, %C_weight : index // dynamic
  cf.assert %equal, "mismatched size for broadcast" // dynamic
  %count = arith.constant $C.0 : f32 // static
  %width = arith.index_cast %C : index to i64 // dynamic
  %count_f64 = arith.constant $C.0 : f64 // static
  %wide = widen %x : [R C]
  %wide_weight = widen %weight : [C]
  %wide_bias = widen %bias : [C]
  %empty_f64 = empty[R C f64]
  %wide_f64 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%wide : tensor[R C f32]) outs(%empty_f64 : tensor[R C f64]) {
  ^bb0(%a: f32, %out: f64):
    %0 = arith.extf %a : f32 to f64
    linalg.yield %0 : f64
  } -> tensor[R C f64]
  %empty_column_f64 = empty[R 1 f64]
  %start_f64 = linalg.fill ins(%zero_f64 : f64) outs(%empty_column_f64 : tensor[R 1 f64])
      -> tensor[R 1 f64]
  %total_f64 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%wide_f64 : tensor[R C f64]) outs(%start_f64 : tensor[R 1 f64]) {
  ^bb0(%a: f64, %out: f64):
    %0 = arith.addf %a, %out : f64
    linalg.yield %0 : f64
  } -> tensor[R 1 f64]
  %mean_f64 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%total_f64 : tensor[R 1 f64]) outs(%empty_column_f64 : tensor[R 1 f64]) {
  ^bb0(%a: f64, %out: f64):
    %count_f64 = arith.sitofp %width : i64 to f64 // dynamic
    %0 = arith.divf %a, %count_f64 : f64
    linalg.yield %0 : f64
  } -> tensor[R 1 f64]
  %centered_f64 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%wide_f64, %mean_f64 : tensor[R C f64], tensor[R 1 f64]) outs(%empty_f64 : tensor[R C f64]) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %0 = arith.subf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor[R C f64]
  %squares = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%centered_f64, %centered_f64 : tensor[R C f64], tensor[R C f64]) outs(%empty_f64 : tensor[R C f64]) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %0 = arith.mulf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor[R C f64]
  %square_sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%squares : tensor[R C f64]) outs(%start_f64 : tensor[R 1 f64]) {
  ^bb0(%a: f64, %out: f64):
    %0 = arith.addf %a, %out : f64
    linalg.yield %0 : f64
  } -> tensor[R 1 f64]
  %variance_f64 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%square_sum : tensor[R 1 f64]) outs(%empty_column_f64 : tensor[R 1 f64]) {
  ^bb0(%a: f64, %out: f64):
    %count_f64 = arith.sitofp %width : i64 to f64 // dynamic
    %0 = arith.divf %a, %count_f64 : f64
    linalg.yield %0 : f64
  } -> tensor[R 1 f64]
  %empty = empty[R C f32]
  %empty_column = empty[R 1 f32]
  %start = linalg.fill ins(%zero : f32) outs(%empty_column : tensor[R 1 f32]) -> tensor[R 1 f32]
  %variance = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%variance_f64 : tensor[R 1 f64]) outs(%empty_column : tensor[R 1 f32]) {
  ^bb0(%a: f64, %out: f32):
    %0 = arith.truncf %a : f64 to f32
    linalg.yield %0 : f32
  } -> tensor[R 1 f32]
  %total = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%wide : tensor[R C f32]) outs(%start : tensor[R 1 f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %out : f32
    linalg.yield %0 : f32
  } -> tensor[R 1 f32]
  %mean = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%total : tensor[R 1 f32]) outs(%empty_column : tensor[R 1 f32]) {
  ^bb0(%a: f32, %out: f32):
    %count = arith.sitofp %width : i64 to f32 // dynamic
    %0 = arith.divf %a, %count : f32
    linalg.yield %0 : f32
  } -> tensor[R 1 f32]
  %shifted = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%variance : tensor[R 1 f32]) outs(%empty_column : tensor[R 1 f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.truncf %epsilon : f64 to f32
    %1 = arith.addf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor[R 1 f32]
  %scale = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%shifted : tensor[R 1 f32]) outs(%empty_column : tensor[R 1 f32]) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.rsqrt %a : f32
    linalg.yield %0 : f32
  } -> tensor[R 1 f32]
  %centered = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%wide, %mean : tensor[R C f32], tensor[R 1 f32]) outs(%empty : tensor[R C f32]) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor[R C f32]
  %normalized = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%centered, %scale : tensor[R C f32], tensor[R 1 f32]) outs(%empty : tensor[R C f32]) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor[R C f32]
  %weighted = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%normalized, %wide_weight : tensor[R C f32], tensor[C f32]) outs(%empty : tensor[R C f32]) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor[R C f32]
  %biased = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%weighted, %wide_bias : tensor[R C f32], tensor[C f32]) outs(%empty : tensor[R C f32]) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor[R C f32]
  %result = narrow %biased : [R C]
  return %result : tensor[R C $T]
}

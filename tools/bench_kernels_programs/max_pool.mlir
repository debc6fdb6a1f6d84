// 3x3, with a stride of one.
func.func @$name(%x: tensor[N C H W $T]) -> tensor[N C HP WP $T] {
  %infinity = arith.constant $lowest : $T
  %two = arith.constant 2 : i64 // dynamic
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %c2 = arith.constant 2 : index // dynamic
  %c3 = arith.constant 3 : index // dynamic
  %N = tensor.dim %x, %c0 : tensor[N C H W $T] // dynamic
  %C = tensor.dim %x, %c1 : tensor[N C H W $T] // dynamic
  %W = tensor.dim %x, %c3 : tensor[N C H W $T] // dynamic
  %width = arith.index_cast %W : index to i64 // dynamic
  %less_width = arith.subi %width, %two : i64 // dynamic
  %WP = arith.index_cast %less_width : i64 to index // dynamic
  %H = tensor.dim %x, %c2 : tensor[N C H W $T] // dynamic
  %height = arith.index_cast %H : index to i64 // dynamic
  %less_height = arith.subi %height, %two : i64 // dynamic
  %HP = arith.index_cast %less_height : i64 to index // dynamic
  %empty = empty[N C HP WP $T]
  %start = linalg.fill ins(%infinity : $T) outs(%empty : tensor[N C HP WP $T])
      -> tensor[N C HP WP $T]
  %window = tensor.empty() : tensor[3 3 $T]
  %result = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>,
                                     strides = dense<1> : vector<2xi64>}
      ins(%x, %window : tensor[N C H W $T], tensor[3 3 $T])
      outs(%start : tensor[N C HP WP $T]) -> tensor[N C HP WP $T]
  return %result : tensor[N C HP WP $T]
}

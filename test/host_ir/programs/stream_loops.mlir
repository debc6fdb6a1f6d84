// inputs: 12x16x8xf32=@random:1 8x8xf32=@random:2
// Loops over streams: elementwise, a matrix product and a reduction in one loop; an axis that is not
// the outermost in another.
"hir.program"() ({
^bb0(%x: memref<?x16x8xf32>, %w: memref<8x8xf32>):
  %a = "hir.unary"(%x) {kind = "tanh", stream_axis = 0 : i64} : (memref<?x16x8xf32>) -> memref<?x16x8xf32>
  %b = "hir.matmul"(%a, %w) {stream_axis = 0 : i64} : (memref<?x16x8xf32>, memref<8x8xf32>) -> memref<?x16x8xf32>
  %c = "hir.reduce"(%b) {kind = "sum", axes = array<i64: 1>, stream_axis = 0 : i64} : (memref<?x16x8xf32>) -> memref<?x8xf32>
  %d = "hir.binary"(%b, %x) {kind = "mul", stream_axis = 1 : i64} : (memref<?x16x8xf32>, memref<?x16x8xf32>) -> memref<?x16x8xf32>
  %e = "hir.reduce"(%d) {kind = "max", axes = array<i64>} : (memref<?x16x8xf32>) -> memref<f32>
  "hir.output"(%c) {name = "c"} : (memref<?x8xf32>) -> ()
  "hir.output"(%d) {name = "d"} : (memref<?x16x8xf32>) -> ()
  "hir.output"(%e) {name = "e"} : (memref<f32>) -> ()
}) {sym_name = "main", inputs = [{name = "x"}, {name = "w"}],
    function_type = (memref<?x16x8xf32>, memref<8x8xf32>) -> (memref<?x8xf32>, memref<?x16x8xf32>, memref<f32>)} : () -> ()

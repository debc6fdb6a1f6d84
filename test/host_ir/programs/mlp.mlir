// inputs: 5x32xf32=@random:1 64x32xf32=@random:2 64xf32=@random:3 32x64xf32=@random:4
// linear, gelu, linear back, residual; any number of rows.
"hir.program"() ({
^bb0(%x: memref<?x32xf32>, %w1: memref<64x32xf32>, %b1: memref<64xf32>, %w2: memref<32x64xf32>):
  %h = "hir.linear"(%x, %w1, %b1) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
    : (memref<?x32xf32>, memref<64x32xf32>, memref<64xf32>) -> memref<?x64xf32>
  %g = "hir.unary"(%h) {kind = "gelu"} : (memref<?x64xf32>) -> memref<?x64xf32>
  %o = "hir.linear"(%g, %w2) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<?x64xf32>, memref<32x64xf32>) -> memref<?x32xf32>
  %y = "hir.binary"(%o, %x) {kind = "add"} : (memref<?x32xf32>, memref<?x32xf32>) -> memref<?x32xf32>
  "hir.output"(%y) {name = "y"} : (memref<?x32xf32>) -> ()
}) {sym_name = "main",
    inputs = [{name = "x", sizes = ["rows", 32]}, {name = "w1"}, {name = "b1"}, {name = "w2"}],
    function_type = (memref<?x32xf32>, memref<64x32xf32>, memref<64xf32>, memref<32x64xf32>)
      -> memref<?x32xf32>} : () -> ()

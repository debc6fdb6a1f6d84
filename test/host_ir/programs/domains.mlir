// inputs: 33x6xf32=@random:1
// A buffer in memory of another order: dim 0 in tiles of 4, padded, before dim 1.
"hir.program"() ({
^bb0(%x: memref<?x6xf32>):
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x6xf32>
  %y = "hir.allocate"(%n) {domain = [{split = 0 : i64, factor = 4 : i64}, {reorder = array<i64: 2, 0, 1>}]}
    : (index) -> memref<?x6xf32, strided<[1, ?]>>
  "hir.unary"(%x, %y) {kind = "sqrt"} : (memref<?x6xf32>, memref<?x6xf32, strided<[1, ?]>>) -> ()
  %z = "hir.set"(%y) : (memref<?x6xf32, strided<[1, ?]>>) -> memref<?x6xf32>
  "hir.output"(%z) {name = "z"} : (memref<?x6xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "x"}],
    function_type = (memref<?x6xf32>) -> memref<?x6xf32>} : () -> ()

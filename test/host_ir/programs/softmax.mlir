// inputs: 7x33xf16=@random:1
// The softmax of every row, step by step, and the place of its greatest.
"hir.program"() ({
^bb0(%x: memref<?x?xf16>):
  %m = "hir.reduce"(%x) {kind = "max", axes = array<i64: 1>, keep_dims} : (memref<?x?xf16>) -> memref<?x1xf16>
  %s = "hir.binary"(%x, %m) {kind = "sub"} : (memref<?x?xf16>, memref<?x1xf16>) -> memref<?x?xf16>
  %e = "hir.unary"(%s) {kind = "exp"} : (memref<?x?xf16>) -> memref<?x?xf16>
  %t = "hir.reduce"(%e) {kind = "sum", axes = array<i64: 1>, keep_dims} : (memref<?x?xf16>) -> memref<?x1xf16>
  %y = "hir.binary"(%e, %t) {kind = "div"} : (memref<?x?xf16>, memref<?x1xf16>) -> memref<?x?xf16>
  %best = "hir.reduce"(%x) {kind = "argmax", axes = array<i64: 1>} : (memref<?x?xf16>) -> memref<?xi64>
  "hir.output"(%y) {name = "y"} : (memref<?x?xf16>) -> ()
  "hir.output"(%best) {name = "best"} : (memref<?xi64>) -> ()
}) {sym_name = "main", inputs = [{name = "x"}],
    function_type = (memref<?x?xf16>) -> (memref<?x?xf16>, memref<?xi64>)} : () -> ()

// inputs: 8x4xf32=@random:1
// A program that calls another one twice, once into a buffer of its own.
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %first = "hir.call"() ({
    "hir.argument"(%x) : (memref<?x4xf32>) -> ()
  }) {callee = @halve} : () -> !hir.results_t
  %h = "hir.result"(%first) {index = 0 : i64} : (!hir.results_t) -> memref<?x4xf32>
  %y = "hir.allocate"(%n) : (index) -> memref<?x4xf32>
  %second = "hir.call"() ({
    "hir.argument"(%h) : (memref<?x4xf32>) -> ()
    "hir.argument"(%y) {destination = 0 : i64} : (memref<?x4xf32>) -> ()
  }) {callee = @halve} : () -> !hir.results_t
  %z = "hir.binary"(%y, %h) {kind = "add"} : (memref<?x4xf32>, memref<?x4xf32>) -> memref<?x4xf32>
  "hir.output"(%z) {name = "z"} : (memref<?x4xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "x"}],
    function_type = (memref<?x4xf32>) -> memref<?x4xf32>} : () -> ()
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  %half = arith.constant 0.5 : f32
  %y = "hir.binary"(%x, %half) {kind = "mul"} : (memref<?x4xf32>, f32) -> memref<?x4xf32>
  "hir.output"(%y) : (memref<?x4xf32>) -> ()
}) {sym_name = "halve", function_type = (memref<?x4xf32>) -> memref<?x4xf32>} : () -> ()

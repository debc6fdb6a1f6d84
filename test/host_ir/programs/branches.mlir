// inputs: 6xf32=@random:1 6xf32=@random:2 3
// A result that depends on a number, and a loop whose branches use a buffer of their own.
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %n: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %many = arith.cmpi sgt, %n, %c2 : index
  %chosen = "hir.if"(%many) ({
    %a = "hir.binary"(%x, %y) {kind = "add"} : (memref<?xf32>, memref<?xf32>) -> memref<?xf32>
    "hir.output"(%a) : (memref<?xf32>) -> ()
  }, {
    %b = "hir.binary"(%x, %y) {kind = "mul"} : (memref<?xf32>, memref<?xf32>) -> memref<?xf32>
    "hir.output"(%b) : (memref<?xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %z = "hir.result"(%chosen) {index = 0 : i64} : (!hir.results_t) -> memref<?xf32>
  %sum = "hir.set"(%z) : (memref<?xf32>) -> memref<?xf32>
  "hir.for"(%c0, %n, %c1) ({
  ^bb0(%i: index):
    %rest = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %rest, %c0 : index
    %none = "hir.if"(%even) ({
      %t = "hir.unary"(%z) {kind = "sin"} : (memref<?xf32>) -> memref<?xf32>
      "hir.binary"(%sum, %t, %sum) {kind = "add"} : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
    }, {
      "hir.binary"(%sum, %i, %sum) {kind = "mul"} : (memref<?xf32>, index, memref<?xf32>) -> ()
    }) : (i1) -> !hir.results_t
  }) : (index, index, index) -> ()
  "hir.output"(%sum) {name = "sum"} : (memref<?xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "x", sizes = ["n"]}, {name = "y", sizes = ["n"]}, {name = "steps"}],
    function_type = (memref<?xf32>, memref<?xf32>, index) -> memref<?xf32>} : () -> ()

// inputs: 4x3xf32=0
// A buffer that is updated where it lies: 1, then 1 + 3, then 1 + 3 + 5.
"hir.program"() ({
^bb0(%total: memref<4x3xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  "hir.for"(%c0, %c3, %c1) ({
  ^bb0(%i: index):
    %twice = arith.muli %i, %c2 : index
    %odd = arith.addi %twice, %c1 : index
    "hir.binary"(%total, %odd, %total) {kind = "add"} : (memref<4x3xf32>, index, memref<4x3xf32>) -> ()
  }) : (index, index, index) -> ()
  "hir.output"(%total) {name = "total"} : (memref<4x3xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "total"}],
    function_type = (memref<4x3xf32>) -> memref<4x3xf32>} : () -> ()

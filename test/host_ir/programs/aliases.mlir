// inputs: 3x5xf32=@random:1 3x5xf32=@random:2
// A chain of aliases: the sum and the product end in the memory of the second input.
"hir.program"() ({
^bb0(%x: memref<3x5xf32>, %y: memref<3x5xf32>):
  %sum = "hir.binary"(%x, %y) {kind = "add"} : (memref<3x5xf32>, memref<3x5xf32>) -> memref<3x5xf32>
  "hir.alias"(%sum, %y) : (memref<3x5xf32>, memref<3x5xf32>) -> ()
  %product = "hir.binary"(%sum, %x) {kind = "mul"} : (memref<3x5xf32>, memref<3x5xf32>) -> memref<3x5xf32>
  "hir.alias"(%product, %sum) : (memref<3x5xf32>, memref<3x5xf32>) -> ()
  "hir.output"(%product) {name = "product"} : (memref<3x5xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "x"}, {name = "y"}],
    function_type = (memref<3x5xf32>, memref<3x5xf32>) -> memref<3x5xf32>} : () -> ()

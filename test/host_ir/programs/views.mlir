// inputs: 6x8xf32=@random:1 8xf32=@random:2
// Rows, parts, transposes and repeated rows, none of them copied; a result in another order.
"hir.program"() ({
^bb0(%x: memref<6x8xf32>, %b: memref<8xf32>):
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c4 = arith.constant 4 : index
  %row = "hir.select"(%x, %c4) {axis = 0 : i64} : (memref<6x8xf32>, index) -> memref<8xf32, strided<[1], offset: ?>>
  %part = "hir.slice"(%x, %c1, %c7) {axis = 1 : i64, step = 2 : i64} : (memref<6x8xf32>, index, index) -> memref<6x3xf32, strided<[8, 2], offset: ?>>
  %t = "hir.permute"(%part) {order = array<i64: 1, 0>} : (memref<6x3xf32, strided<[8, 2], offset: ?>>) -> memref<3x6xf32, strided<[2, 8], offset: ?>>
  %flat = "hir.reshape"(%x) : (memref<6x8xf32>) -> memref<48xf32>
  %again = "hir.reshape"(%flat) : (memref<48xf32>) -> memref<2x3x8xf32>
  %rows = "hir.expand"(%b) : (memref<8xf32>) -> memref<2x3x8xf32, strided<[0, 0, 1]>>
  %sum = "hir.binary"(%again, %rows) {kind = "add"} : (memref<2x3x8xf32>, memref<2x3x8xf32, strided<[0, 0, 1]>>) -> memref<2x3x8xf32>
  %u = "hir.allocate"() {order = array<i64: 1, 0>} : () -> memref<3x6xf32, strided<[1, 3]>>
  "hir.unary"(%t, %u) {kind = "neg"} : (memref<3x6xf32, strided<[2, 8], offset: ?>>, memref<3x6xf32, strided<[1, 3]>>) -> ()
  %v = "hir.binary"(%row, %b) {kind = "mul"} : (memref<8xf32, strided<[1], offset: ?>>, memref<8xf32>) -> memref<8xf32>
  "hir.output"(%sum) {name = "sum"} : (memref<2x3x8xf32>) -> ()
  "hir.output"(%u) {name = "u"} : (memref<3x6xf32, strided<[1, 3]>>) -> ()
  "hir.output"(%v) {name = "v"} : (memref<8xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "x"}, {name = "b"}],
    function_type = (memref<6x8xf32>, memref<8xf32>) -> (memref<2x3x8xf32>, memref<3x6xf32>, memref<8xf32>)} : () -> ()

// What is measured is the code for the sizes, strides and bytes of a buffer of four dims, all sizes
// open, whose memory two splits, a permutation and a merge describe. Nothing
// is launched.
// `described` allocates one, `many` allocates and frees `count` of them without returning.
"hir.program"() ({
^bb0(%n: index, %c: index, %h: index, %w: index):
  %y = "hir.allocate"(%n, %c, %h, %w) {domain = [
    {split = 1, factor = 32},
    {reorder = array<i64: 0, 3, 4, 1, 2>},
    {merge = 1},
    {split = 0, factor = 4}
  ], zero_init} : (index, index, index, index) -> memref<?x?x?x?xf32, strided<[?, 1, ?, ?]>>
  "hir.output"(%y) {name = "y"} : (memref<?x?x?x?xf32, strided<[?, 1, ?, ?]>>) -> ()
}) {sym_name = "described", function_type = (index, index, index, index) -> memref<?x?x?x?xf32>} : () -> ()

"hir.program"() ({
^bb0(%count: index, %c: index, %h: index, %w: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sixteen = arith.constant 16 : index
  "hir.for"(%zero, %count, %one) ({
  ^bb0(%i: index):
    %n = arith.remui %i, %sixteen : index
    %y = "hir.allocate"(%n, %c, %h, %w) {domain = [
      {split = 1, factor = 32},
      {reorder = array<i64: 0, 3, 4, 1, 2>},
      {merge = 1},
      {split = 0, factor = 4}
    ], zero_init} : (index, index, index, index) -> memref<?x?x?x?xf32, strided<[?, 1, ?, ?]>>
    "hir.deallocate"(%y) : (memref<?x?x?x?xf32, strided<[?, 1, ?, ?]>>) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "many", function_type = (index, index, index, index) -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file --hir-divide-over-mesh --verify-diagnostics

// expected-error @below {{input 0 is spread over the mesh and written in place: what is written to is whole on every device}}
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  "hir.unary"(%x, %x) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
}) {sym_name = "main", mesh = array<i64: 2>, inputs = [{name = "x", spread = ["axis:0"]}],
    function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

// expected-error @below {{input 0: memref<8x4xf32, strided<[8, 1]>> is divided, so it is packed, or leaves its strides open}}
"hir.program"() ({
^bb0(%x: memref<8x4xf32, strided<[8, 1]>>):
}) {sym_name = "main", mesh = array<i64: 2>, inputs = [{name = "x", spread = ["axis:0"]}],
    function_type = (memref<8x4xf32, strided<[8, 1]>>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  %none = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
  "hir.output"(%y) {spread = ["axis:0"]} : (memref<8xf32>) -> ()
}) {sym_name = "inner", mesh = array<i64: 2>, function_type = (memref<8xf32>) -> memref<8xf32>} : () -> ()
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  // expected-error @below {{a program over a mesh is run by itself, not called by another}}
  %y = "hir.call"() ({
    "hir.argument"(%x) : (memref<8xf32>) -> ()
  }) {callee = @inner} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

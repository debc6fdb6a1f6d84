// RUN: hirc-opt %s --split-input-file -p hir-check-weights --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<4xf32>, %w: memref<4xf32>):
  // expected-error @below {{hir.set writes to weight 'w', which all calls share: write to a copy of it (hir.set), or make it an input}}
  "hir.set"(%x, %w) : (memref<4xf32>, memref<4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4xf32>, memref<4xf32>) -> (),
    inputs = [{name = "x"}, {weight = "w"}]} : () -> ()

// -----

"hir.program"() ({
^bb0(%w: memref<8x4xf32>, %i: index):
  %row = "hir.select"(%w, %i) {axis = 0 : i64} : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  // expected-error @below {{an output is the caller's to free, and this one is memory of weight 'w': copy it (hir.set)}}
  "hir.output"(%row) : (memref<4xf32, strided<[1], offset: ?>>) -> ()
}) {sym_name = "main", function_type = (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>,
    inputs = [{weight = "w"}, {name = "i"}]} : () -> ()

// -----

// A program that writes to its input must not be given a weight.
"hir.program"() ({
^bb0(%y: memref<4xf32>):
  "hir.unary"(%y, %y) {kind = "neg"} : (memref<4xf32>, memref<4xf32>) -> ()
}) {sym_name = "negate", function_type = (memref<4xf32>) -> ()} : () -> ()
"hir.program"() ({
^bb0(%w: memref<4xf32>):
  // expected-error @below {{hir.call writes to weight 'w'}}
  %r = "hir.call"() ({
    "hir.argument"(%w) : (memref<4xf32>) -> ()
  }) {callee = @negate} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<4xf32>) -> (), inputs = [{weight = "w"}]} : () -> ()

// -----

// State is written, and not given away.
"hir.program"() ({
^bb0(%s: memref<4xf32>):
  "hir.unary"(%s, %s) {kind = "neg"} : (memref<4xf32>, memref<4xf32>) -> ()
  // expected-error @below {{an output is the caller's to free, and this one is memory of state 's': copy it (hir.set)}}
  "hir.output"(%s) : (memref<4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4xf32>) -> memref<4xf32>, inputs = [{state = "s"}]} : () -> ()

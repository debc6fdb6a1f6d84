// RUN: hirc-opt %s --split-input-file --verify-diagnostics

// What a class declares is asked for before its verifier reads it.

// expected-error @below {{hir.program: sym_name is a string, not left out}}
"hir.program"() ({
^bb0(%x: memref<4xf32>):
  "hir.output"(%x) {name = "y"} : (memref<4xf32>) -> ()
}) {function_type = (memref<4xf32>) -> memref<4xf32>} : () -> ()

// -----

// expected-error @below {{hir.kernel: function is a symbol (@name), not "f"}}
"hir.kernel"() {sym_name = "k", function = "f"} : () -> ()

// -----

// expected-error @below {{hir.launch: it takes 7 to 8 operands, not 0}}
"hir.launch"() : () -> ()

// -----

// expected-error @below {{hir.stream: it has 1 result, not 0}}
"hir.stream"() {name = "side"} : () -> ()

// -----

// expected-error @below {{hir.coalesce: it has 1 region, not 0}}
%r = "hir.coalesce"() : () -> !hir.request_t

// -----

// An output without a value, which the program around it would read.
"hir.program"() ({
^bb0:
  // expected-error @below {{hir.output: it takes 1 operand, not 0}}
  "hir.output"() : () -> ()
}) {sym_name = "main", function_type = () -> memref<4xf32>} : () -> ()

// -----

// A program that is wrong itself, and comes after one that calls it.
"hir.program"() ({
^bb0(%x: memref<4xf32>):
  %r = "hir.call"() ({
    "hir.argument"(%x) : (memref<4xf32>) -> ()
  }) {callee = @later} : () -> !hir.results_t
  %y = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<4xf32>
}) {sym_name = "main", function_type = (memref<4xf32>) -> ()} : () -> ()
// expected-error @below {{hir.program: function_type is a type, not "none"}}
"hir.program"() ({
^bb0:
}) {sym_name = "later", function_type = "none"} : () -> ()

// -----

// The same of a kernel.
"hir.program"() ({
^bb0(%n: index):
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
  }) {kernel = @later} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()
// expected-error @below {{hir.kernel: function is a symbol}}
"hir.kernel"() {sym_name = "later"} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x4xf32>):
  // expected-error @below {{has an array of a type that no attribute of it is of}}
  %y = "hir.permute"(%x) {order = array<i128: 1, 0>} : (memref<4x4xf32>) -> memref<4x4xf32>
}) {sym_name = "main", function_type = (memref<4x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<2x4611686018427387904x4xf32>, %i: index):
  // expected-error @below {{the strides of [2, 4611686018427387904] reach beyond 64 bits}}
  %y = "hir.select"(%x, %i) {axis = 2 : i64}
    : (memref<2x4611686018427387904x4xf32>, index) -> memref<2x4611686018427387904xf32>
}) {sym_name = "main", function_type = (memref<2x4611686018427387904x4xf32>, index) -> ()}
  : () -> ()

// -----

// A location is an attribute, too.

// expected-error @below {{hir.kernel has a location for an attribute; none of its attributes is one}}
"hir.kernel"() {sym_name = "k", function = loc("f")} : () -> ()

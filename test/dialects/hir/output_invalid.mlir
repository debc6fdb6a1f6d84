// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  %one = arith.constant 1 : index
  "hir.for"(%one, %one, %one) ({
  ^bb0(%i: index):
    // expected-error @below {{hir.output ends a hir.program or a branch of hir.if; it stands in hir.for}}
    "hir.output"(%x) : (memref<?x4xf32>) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %yes = arith.constant true
  %r = "hir.if"(%yes) ({
    // expected-error @below {{the output, !hir.stream_t, is neither a buffer nor a scalar}}
    "hir.output"(%here) : (!hir.stream_t) -> ()
  }, {
    "hir.output"(%here) : (!hir.stream_t) -> ()
  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  // expected-error @below {{hir.output 'name' is the output's name, a string, not ""; leave it out}}
  "hir.output"(%x) {name = ""} : (memref<?x4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> memref<?x4xf32>} : () -> ()

// -----

"hir.program"() ({
  %x = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1>} : () -> memref<8xf32>
  %y = "hir.reshape"(%x) : (memref<8xf32>) -> memref<2x4xf32>
  // expected-error @below {{the output lies in memory that a team shares, which is the program's: copy it with hir.set}}
  "hir.output"(%y) : (memref<2x4xf32>) -> ()
}) {sym_name = "main", function_type = () -> memref<2x4xf32>} : () -> ()

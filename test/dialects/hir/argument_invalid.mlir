// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  // expected-error @below {{hir.argument stands in the region of a hir.call, hir.host_call or hir.launch, not in hir.program}}
  "hir.argument"(%x) : (memref<8x4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %r = "hir.host_call"() ({
      // expected-error @below {{the argument, !hir.stream_t, is neither a buffer nor a scalar}}
    "hir.argument"(%here) : (!hir.stream_t) -> ()
  }) {callee = @layer} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %r = "hir.host_call"() ({
  ^bb0:
    // expected-error @below {{'destination' is for arguments of hir.call; what hir.host_call writes goes to any buffer it is given: leave it out}}
    "hir.argument"(%x) {destination = 0 : i64} : (memref<8x4xf32>) -> ()
  }) {callee = @layer} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x4xf32>, %scale: f32):
  %y = "hir.binary"(%x, %scale) {kind = "mul"} : (memref<?x4xf32>, f32) -> memref<?x4xf32>
  "hir.output"(%y) : (memref<?x4xf32>) -> ()
  "hir.output"(%scale) : (f32) -> ()
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
}) {sym_name = "layer", function_type = (memref<?x4xf32>, f32)
    -> (memref<?x4xf32>, f32, memref<?x4xf32>)} : () -> ()
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %r = "hir.call"() ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
    // expected-error @below {{'destination' is the number of an output, not -1 : i64}}
    "hir.argument"(%y) {destination = -1 : i64} : (memref<8x4xf32>) -> ()
  }) {callee = @layer} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x4xf32>, %scale: f32):
  %y = "hir.binary"(%x, %scale) {kind = "mul"} : (memref<?x4xf32>, f32) -> memref<?x4xf32>
  "hir.output"(%y) : (memref<?x4xf32>) -> ()
  "hir.output"(%scale) : (f32) -> ()
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
}) {sym_name = "layer", function_type = (memref<?x4xf32>, f32)
    -> (memref<?x4xf32>, f32, memref<?x4xf32>)} : () -> ()
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %r = "hir.call"() ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
    // expected-error @below {{'destination' is the number of an output, not "y"}}
    "hir.argument"(%y) {destination = "y"} : (memref<8x4xf32>) -> ()
  }) {callee = @layer} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

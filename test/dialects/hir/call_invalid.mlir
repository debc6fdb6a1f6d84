// RUN: hirc-opt %s --split-input-file --verify-diagnostics

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
    // expected-error @below {{the region of hir.call holds hir.argument operations alone, not arith.constant: compute it before the call}}
    %one = arith.constant 1 : index
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
  // expected-error @below {{the region of hir.call is one block; it has none: write ({ ^bb0: }) for an empty one}}
  %r = "hir.call"() ({
  }) {callee = @layer} : () -> !hir.results_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

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
  // expected-error @below {{the block of the region of hir.call has no arguments, not 1}}
  %r = "hir.call"() ({
  ^bb0(%i: index):
  }) {callee = @layer} : () -> !hir.results_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

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
  // expected-error @below {{hir.call runs a hir.program of the module; @other is nothing (there are: @layer, @main)}}
  %r = "hir.call"() ({
  ^bb0:

  }) {callee = @other} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

func.func private @c()
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  // expected-error @below {{hir.call runs a hir.program of the module; @c is a func.func (there are: @main)}}
  %r = "hir.call"() ({
  ^bb0:

  }) {callee = @c} : () -> !hir.results_t
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
  // expected-error @below {{@layer takes 2 inputs, not 1}}
  %r = "hir.call"() ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
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
    // expected-error @below {{input 1 of @layer: expected f32, not memref<8x4xf32>}}
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
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
    "hir.argument"(%y) {destination = 0 : i64} : (memref<8x4xf32>) -> ()
    // expected-error @below {{the inputs of @layer come before the destinations}}
    "hir.argument"(%s) : (f32) -> ()
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
    // expected-error @below {{@layer has 3 outputs; there is no output 3}}
    "hir.argument"(%y) {destination = 3 : i64} : (memref<8x4xf32>) -> ()
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
    "hir.argument"(%y) {destination = 0 : i64} : (memref<8x4xf32>) -> ()
    // expected-error @below {{output 0 of @layer has a destination already}}
    "hir.argument"(%y) {destination = 0 : i64} : (memref<8x4xf32>) -> ()
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
    // expected-error @below {{output 1 of @layer is a scalar, f32, which has no destination: take it with hir.result}}
    "hir.argument"(%y) {destination = 1 : i64} : (memref<8x4xf32>) -> ()
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
    // expected-error @below {{the destination of output 0 of @layer: expected memref<?x4xf32>, not f32}}
    "hir.argument"(%s) {destination = 0 : i64} : (f32) -> ()
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
    // expected-error @below {{output 2 of @layer is its input 0, so no buffer can be handed in for it: take it with hir.result, and copy it with hir.set}}
    "hir.argument"(%y) {destination = 2 : i64} : (memref<8x4xf32>) -> ()
  }) {callee = @layer} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  %y = "hir.permute"(%x) {order = array<i64: 1, 0>}
    : (memref<4x8xf32>) -> memref<8x4xf32, strided<[1, 8]>>
  "hir.output"(%y) : (memref<8x4xf32, strided<[1, 8]>>) -> ()
}) {sym_name = "turned", function_type = (memref<4x8xf32>) -> memref<8x4xf32>} : () -> ()
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %y: memref<8x4xf32>):
  %r = "hir.call"() ({
    "hir.argument"(%x) : (memref<4x8xf32>) -> ()
    // expected-error @below {{output 0 of @turned is a view of something else, so no buffer can be handed in for it}}
    "hir.argument"(%y) {destination = 0 : i64} : (memref<8x4xf32>) -> ()
  }) {callee = @turned} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<8x4xf32>) -> ()} : () -> ()

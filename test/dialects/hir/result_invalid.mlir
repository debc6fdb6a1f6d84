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
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {callee = @layer} : () -> !hir.results_t
  // expected-error @below {{hir.call gives 3 values (0 to 2), not one number 3}}
  %v = "hir.result"(%r) {index = 3 : i64} : (!hir.results_t) -> f32
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
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {callee = @layer} : () -> !hir.results_t
  // expected-error @below {{hir.call gives 3 values (0 to 2), not one number -1}}
  %v = "hir.result"(%r) {index = -1 : i64} : (!hir.results_t) -> f32
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
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {callee = @layer} : () -> !hir.results_t
  // expected-error @below {{value 1 of hir.call: expected f32, not f64}}
  %v = "hir.result"(%r) {index = 1 : i64} : (!hir.results_t) -> f64
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
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {callee = @layer} : () -> !hir.results_t
  // expected-error @below {{value 0 of hir.call: expected size 4 of dim 1, not 5}}
  %v = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<8x5xf32>
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %r = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
  }) {callee = @count} : () -> !hir.results_t
  // expected-error @below {{hir.host_call gives 0 values (none), not one number 0}}
  %v = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> f64
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %r = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
  }) {callee = @count, result_types = [i64]} : () -> !hir.results_t
  // expected-error @below {{value 0 of hir.host_call: expected i64, not f64}}
  %v = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> f64
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %yes = arith.constant true
  %r = "hir.if"(%yes) ({
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }, {
    "hir.output"(%y) : (memref<8x4xf32>) -> ()
  }) : (i1) -> !hir.results_t
  // expected-error @below {{value 0 of hir.if: expected memref<8x4xf32>, not memref<8x4xf32, strided<[8, 1]>>}}
  %v = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<8x4xf32, strided<[8, 1]>>
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

func.func @f(%r: !hir.results_t) {
  // expected-error @below {{hir.result takes a value out of a hir.call, hir.host_call or hir.if alone}}
  %v = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> f64
  return
}

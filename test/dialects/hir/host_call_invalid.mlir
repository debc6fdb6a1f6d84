// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %r = "hir.host_call"() ({
  ^bb0:
    // expected-error @below {{the region of hir.host_call holds hir.argument operations alone, not arith.constant: compute it before the host_call}}
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
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  // expected-error @below {{hir.host_call calls a C function; @layer is a hir.program: use hir.call}}
  %r = "hir.host_call"() ({
  ^bb0:

  }) {callee = @layer} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, block = array<i64: 128, 1, 1>,
  cluster = array<i64: 2, 1, 1>, shared_bytes = 64 : i64} : () -> ()
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  // expected-error @below {{hir.host_call calls a C function; @k is a hir.kernel: use hir.launch}}
  %r = "hir.host_call"() ({
  ^bb0:

  }) {callee = @k} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  // expected-error @below {{'result_types' lists at most one scalar type, as [i64]; it is [i64, i64]: give more through a buffer}}
  %r = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
  }) {callee = @count, result_types = [i64, i64]} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  // expected-error @below {{'result_types' lists at most one scalar type, as [i64]; it is [memref<4xf32>]: give more through a buffer}}
  %r = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
  }) {callee = @count, result_types = [memref<4xf32>]} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  // expected-error @below {{'result_types' lists at most one scalar type, as [i64]; it is i64: give more through a buffer}}
  %r = "hir.host_call"() ({
    "hir.argument"(%x) : (memref<8x4xf32>) -> ()
  }) {callee = @count, result_types = i64} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

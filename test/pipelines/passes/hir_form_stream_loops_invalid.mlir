// RUN: hirc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hir-form-stream-loops)'

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %y: memref<8x1xf32>):
  // expected-error @below {{'stream_axis' is 1, which hir.reduce reduces; an axis that stays is spread over streams}}
  "hir.reduce"(%x, %y) {kind = "sum", axes = array<i64: 1>, keep_dims, stream_axis = 1 : i64}
    : (memref<8x4xf32>, memref<8x1xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x4xf32>, memref<8x1xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %y: memref<8x4xf32>):
  %z = "hir.unary"(%x) {kind = "neg", stream_axis = 0 : i64} : (memref<8x4xf32>) -> memref<8x4xf32>
  // expected-error @below {{run hir-resolve-aliases before hir-form-stream-loops, which moves work}}
  "hir.alias"(%z, %y) : (memref<8x4xf32>, memref<8x4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x4xf32>, memref<8x4xf32>) -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  // expected-error @below {{expected base type 'hir.request_t' but got 'builtin.memref'}}
  "hir.wait"(%x) : (memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

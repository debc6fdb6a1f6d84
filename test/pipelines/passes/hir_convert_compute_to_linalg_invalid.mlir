// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p hir-convert-compute-to-linalg

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  // expected-error @+1 {{'hir.unary' has no destination: run hir-insert-allocations first}}
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.output"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "fresh", function_type = (memref<8xf32>) -> memref<8xf32>} : () -> ()

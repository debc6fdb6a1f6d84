// RUN: hirc-opt %s --verify-diagnostics -p hir-schedule-kernels

"hir.program"() ({
^bb0(%x: memref<4xf32>, %y: memref<4xf32>):
  // expected-error @+1 {{'linalg.copy' has no schedule; run linalg-generalize-named-ops first}}
  linalg.copy ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
}) {sym_name = "main", function_type = (memref<4xf32>, memref<4xf32>) -> ()} : () -> ()

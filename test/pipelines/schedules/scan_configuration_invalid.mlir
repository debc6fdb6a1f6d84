// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90}' --verify-diagnostics

// What is wrong with a number is said of it, not of what follows from it.
"hir.program"() ({
^bb0(%x: memref<64x128xf32>, %y: memref<64x128xf32>):
  // expected-error @+1 {{'vectors' is at least 1, and 'vectors' times 'width' at most}}
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<64x128xf32>) outs(%y : memref<64x128xf32>)
    attrs = {hir.collective, hir.configuration = {family = "scan", vectors = 0 : i64}} {
  ^bb0(%a: f32, %o: f32):
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 1 : i64} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<64x128xf32>, memref<64x128xf32>) -> ()} : () -> ()

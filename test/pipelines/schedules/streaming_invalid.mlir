// RUN: hirc-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(hir-schedule-kernels)"

"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %y: memref<4xf32>):
  // expected-error @below {{the region reads output 0 beside collective operations; make what it begins with an input}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %all = arith.addf %sum, %b : f32
    linalg.yield %all : f32
  }
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<4xf32>) -> ()} : () -> ()

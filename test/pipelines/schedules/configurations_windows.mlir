// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s

// What is left out is as in the nearest choice that the sizes allow: rows of 30 results have pairs.

// CHECK: gpu.func @reduce_loops_0{{.*}}family = "windows", layout = "packed", rows = 8 : i64, threads = 128 : i64, width = 2 : i64}, known_block_size = array<i32: 128, 1, 1>
"hir.program"() ({
^bb0(%x: memref<18x32xf32>, %w: memref<3x3xf32>, %y: memref<16x30xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(h, w, i, j) -> (h + i, w + j)>,
                     affine_map<(h, w, i, j) -> (i, j)>, affine_map<(h, w, i, j) -> (h, w)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : memref<18x32xf32>, memref<3x3xf32>) outs(%y : memref<16x30xf32>)
      attrs = {hir.configuration = {family = "windows", threads = 128}} {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 2, 3>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "main", function_type = (memref<18x32xf32>, memref<3x3xf32>, memref<16x30xf32>) -> ()} : () -> ()

// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s

// Places of 2^31 results are counted in 64 bits, those of the image that 32 reach in these. Rows and
// columns are few enough for the tiled kernel, which is not left for that of one thread a result.

// CHECK:     gpu.func @{{.*}} kernel
// CHECK:       nvvm.cp.async.shared.global
// CHECK:       vector.fma
// CHECK:       %[[FAR:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK:       arith.muli %[[FAR]], %{{.*}} overflow<nsw> : i64
"hir.program"() ({
^bb0(%x: memref<16x64x1048576xf32>, %k: memref<128x64xf32>, %y: memref<16x128x1048576xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, f, p, c) -> (n, c, p)>, affine_map<(n, f, p, c) -> (f, c)>, affine_map<(n, f, p, c) -> (n, f, p)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%x, %k : memref<16x64x1048576xf32>, memref<128x64xf32>) outs(%y : memref<16x128x1048576xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = "hir.reduce_loops"(%0) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    linalg.yield %1 : f32
  }
}) {function_type = (memref<16x64x1048576xf32>, memref<128x64xf32>, memref<16x128x1048576xf32>) -> (), inputs = [{name = "x"}, {name = "k"}, {name = "y"}], sym_name = "main"} : () -> ()

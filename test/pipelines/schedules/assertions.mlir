// RUN: hirc-opt %s --split-input-file -p hir-schedule-kernels | FileCheck %s

// What a region asserts is checked whichever schedule takes it: here a sum over columns.

// CHECK-LABEL: gpu.module
// CHECK:         gpu.func
// CHECK:           cf.assert %{{.*}}, "a negative one"
// CHECK-NOT:     gpu.func
"hir.program"() ({
^bb0(%x: memref<64x32xf32>, %y: memref<32xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : memref<64x32xf32>) outs(%y : memref<32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %right = arith.cmpf oge, %a, %zero : f32
    cf.assert %right, "a negative one"
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<64x32xf32>, memref<32xf32>) -> ()} : () -> ()

// -----

// And over rows.

// CHECK-LABEL: gpu.module
// CHECK:           cf.assert %{{.*}}, "a negative one"
"hir.program"() ({
^bb0(%x: memref<64x32xf32>, %y: memref<64xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<64x32xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %right = arith.cmpf oge, %a, %zero : f32
    cf.assert %right, "a negative one"
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<64x32xf32>, memref<64xf32>) -> ()} : () -> ()

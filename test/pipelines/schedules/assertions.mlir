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

// And over rows, which a team shares all the same: once for each of a thread's elements, before these
// are added. What is not in the row is not checked.

// CHECK-LABEL: gpu.module
// CHECK:         gpu.func {{.*}}family = "rows"
// CHECK:           cf.assert %{{.*}}, "a negative one"
// CHECK:           arith.addf
// CHECK:         gpu.func
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

// -----

// One long row is split over blocks; an element beyond it holds whatever is asserted of it. The
// second kernel adds what the parts found, and checks nothing.

// CHECK-LABEL: gpu.module
// CHECK:         gpu.func {{.*}}kernel = "kept"
// CHECK:           %[[BEYOND:.*]] = arith.xori %{{.*}}, %true
// CHECK:           %[[HOLDS:.*]] = arith.ori %{{.*}}, %[[BEYOND]]
// CHECK:           cf.assert %[[HOLDS]], "a negative one"
// CHECK:         gpu.func {{.*}}_part_{{.*}}kernel = "split"
// CHECK:           cf.assert %{{.*}}, "a negative one"
// CHECK:         gpu.func {{.*}}_parts_
// CHECK-NOT:       cf.assert
// CHECK:         gpu.func
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<f32>):
  linalg.generic {
    indexing_maps = [affine_map<(c) -> (c)>, affine_map<(c) -> ()>],
    iterator_types = ["reduction"]
  } ins(%x : memref<?xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %right = arith.cmpf oge, %a, %zero : f32
    cf.assert %right, "a negative one"
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<?xf32>, memref<f32>) -> ()} : () -> ()

// -----

// What is asserted of a result keeps the row schedule away.

// CHECK-LABEL: gpu.module
// CHECK-NOT:     family = "rows"
"hir.program"() ({
^bb0(%x: memref<64x32xf32>, %y: memref<64xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<64x32xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %right = arith.cmpf oge, %s, %zero : f32
    cf.assert %right, "a negative sum"
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<64x32xf32>, memref<64xf32>) -> ()} : () -> ()

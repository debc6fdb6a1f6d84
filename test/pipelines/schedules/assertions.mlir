// RUN: hirc-opt %s --split-input-file -p hir-schedule-kernels | FileCheck %s

// What a region asserts is checked whichever schedule takes it: here a sum over columns, once for each
// of a thread's elements, before these are added.

// CHECK-LABEL: gpu.module
// CHECK:         gpu.func {{.*}}family = "columns"
// CHECK-NOT:       arith.addf
// CHECK:           cf.assert %{{.*}}, "a negative one"
// CHECK:           arith.addf
// CHECK-NOT:       cf.assert
// CHECK:         gpu.func {{.*}}family = "columns"
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

// What it asserts of a column is checked once, where its results are stored.

// CHECK-LABEL: gpu.module
// CHECK:         gpu.func {{.*}}_part_{{.*}}family = "columns"
// CHECK-NOT:       cf.assert
// CHECK:         gpu.func {{.*}}_part_{{.*}}family = "columns"
// CHECK-NOT:       cf.assert
// CHECK:         gpu.func {{.*}}family = "columns"
// CHECK:           cf.assert %{{.*}}, "no such row"
// CHECK:           memref.load
"hir.program"() ({
^bb0(%x: memref<4096x256xf32>, %i: memref<256xi64>, %y: memref<256xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (c)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x, %i : memref<4096x256xf32>, memref<256xi64>) outs(%y : memref<256xf32>) {
  ^bb0(%a: f32, %i64: i64, %b: f32):
    %rows = arith.constant 4096 : index
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 0>} : (f32) -> f32
    %d = arith.subf %a, %m : f32
    %s = "hir.reduce_loops"(%d) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    %at = arith.index_cast %i64 : i64 to index
    %right = arith.cmpi ult, %at, %rows : index
    cf.assert %right, "no such row"
    %c = linalg.index 1 : index
    %e = memref.load %x[%at, %c] : memref<4096x256xf32>
    %z = arith.divf %e, %s : f32
    linalg.yield %z : f32
  }
}) {sym_name = "main", function_type = (memref<4096x256xf32>, memref<256xi64>, memref<256xf32>) -> ()} : () -> ()

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

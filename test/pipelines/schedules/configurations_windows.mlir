// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s

// What is left out is as in the nearest choice that the sizes allow: rows of 30 results have pairs,
// and a thread one row of few.

// CHECK: gpu.func @reduce_loops_0{{.*}}family = "windows", layout = "packed", rows = 1 : i64, threads = 128 : i64, width = 2 : i64}, known_block_size = array<i32: 128, 1, 1>
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

// A thread has fewer rows where threads would not fill a quarter of the device.

// CHECK: gpu.func @reduce_loops_3{{.*}}rows = 4 : i64, threads = 256 : i64, width = 2
// CHECK: gpu.func @reduce_loops_5{{.*}}rows = 2 : i64, threads = 256 : i64, width = 2
// CHECK: gpu.func @reduce_loops_7{{.*}}rows = 8 : i64, threads = 256 : i64, width = 2
"hir.program"() ({
^bb0(%w: memref<3x3xf32>, %x132: memref<132x66x66xf32>, %y132: memref<132x64x64xf32>, %x131: memref<131x66x66xf32>, %y131: memref<131x64x64xf32>, %x528: memref<528x66x66xf32>, %y528: memref<528x64x64xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, i, j) -> (n, h + i, w + j)>,
                     affine_map<(n, h, w, i, j) -> (i, j)>, affine_map<(n, h, w, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x132, %w : memref<132x66x66xf32>, memref<3x3xf32>) outs(%y132 : memref<132x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %m : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, i, j) -> (n, h + i, w + j)>,
                     affine_map<(n, h, w, i, j) -> (i, j)>, affine_map<(n, h, w, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x131, %w : memref<131x66x66xf32>, memref<3x3xf32>) outs(%y131 : memref<131x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %m : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, i, j) -> (n, h + i, w + j)>,
                     affine_map<(n, h, w, i, j) -> (i, j)>, affine_map<(n, h, w, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x528, %w : memref<528x66x66xf32>, memref<3x3xf32>) outs(%y528 : memref<528x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "few", function_type = (memref<3x3xf32>, memref<132x66x66xf32>, memref<132x64x64xf32>, memref<131x66x66xf32>, memref<131x64x64xf32>, memref<528x66x66xf32>, memref<528x64x64xf32>) -> ()} : () -> ()

// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s

// Windows that begin 28 bytes apart: a thread has one result, as wider tiles of a warp would lie
// in more lines than the first-level cache keeps.
// CHECK: gpu.func @reduce_loops_0({{.*}}family = "windows"{{.*}}width = 1
"hir.program"() ({
^bb0(%x: memref<64x140x140xf32>, %w: memref<7x7xf32>, %y: memref<64x20x20xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, i, j) -> (n, h * 7 + i, w * 7 + j)>,
                     affine_map<(n, h, w, i, j) -> (i, j)>,
                     affine_map<(n, h, w, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : memref<64x140x140xf32>, memref<7x7xf32>) outs(%y : memref<64x20x20xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "small",
    function_type = (memref<64x140x140xf32>, memref<7x7xf32>, memref<64x20x20xf32>) -> ()} : () -> ()

// Of more elements lanes reduce one together, where no other window has them.
// CHECK: gpu.func @reduce_loops_1({{.*}}family = "rows"
"hir.program"() ({
^bb0(%x: memref<64x220x220xf32>, %w: memref<11x11xf32>, %y: memref<64x20x20xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, i, j) -> (n, h * 11 + i, w * 11 + j)>,
                     affine_map<(n, h, w, i, j) -> (i, j)>,
                     affine_map<(n, h, w, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : memref<64x220x220xf32>, memref<11x11xf32>) outs(%y : memref<64x20x20xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "alone",
    function_type = (memref<64x220x220xf32>, memref<11x11xf32>, memref<64x20x20xf32>) -> ()} : () -> ()

// Those that others have elements of stay with a thread each; so do those of channels that lie last.
// CHECK: gpu.func @reduce_loops_2({{.*}}family = "windows"{{.*}}width = 1
// CHECK: gpu.func @reduce_loops_3({{.*}}family = "windows"{{.*}}width = 4
"hir.program"() ({
^bb0(%x: memref<64x135x135xf32>, %w: memref<9x9xf32>, %y: memref<64x22x22xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, i, j) -> (n, h * 6 + i, w * 6 + j)>,
                     affine_map<(n, h, w, i, j) -> (i, j)>,
                     affine_map<(n, h, w, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : memref<64x135x135xf32>, memref<9x9xf32>) outs(%y : memref<64x22x22xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "shared",
    function_type = (memref<64x135x135xf32>, memref<9x9xf32>, memref<64x22x22xf32>) -> ()} : () -> ()
"hir.program"() ({
^bb0(%x: memref<8x80x80x64xf32>, %w: memref<8x8xf32>, %y: memref<8x10x10x64xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, c, i, j) -> (n, h * 8 + i, w * 8 + j, c)>,
                     affine_map<(n, h, w, c, i, j) -> (i, j)>,
                     affine_map<(n, h, w, c, i, j) -> (n, h, w, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : memref<8x80x80x64xf32>, memref<8x8xf32>) outs(%y : memref<8x10x10x64xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 4, 5>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "last",
    function_type = (memref<8x80x80x64xf32>, memref<8x8xf32>, memref<8x10x10x64xf32>) -> ()} : () -> ()

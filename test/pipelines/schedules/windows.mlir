// RUN: hirc-opt %s -p 'hir-schedule-kernels,hir.program(canonicalize,cse),gpu.module(gpu.func(canonicalize,cse))' | FileCheck %s

// A thread takes two neighbouring results, as wide as rows of 30 are aligned, in eight rows: of
// the ten rows that their windows cover it loads four elements each, by two accesses. What windows
// one above the other have of a row is found once: two maxima for each result in it, and two more.

// CHECK-LABEL: gpu.func @reduce_loops_0(
// CHECK:           scf.if
// CHECK-COUNT-20:    llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK-NOT:         llvm.load
// CHECK-COUNT-72:    arith.maximumf
// CHECK-NOT:         arith.maximumf
// CHECK-COUNT-8:     llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
// CHECK-NOT:         scf.for
// CHECK:         gpu.return
// CHECK-LABEL: gpu.func @reduce_loops_1(
"hir.program"() ({
^bb0(%x: memref<4096x18x32xf32>, %w: memref<3x3xf32>, %y: memref<4096x16x30xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, i, j) -> (n, h + i, w + j)>,
                     affine_map<(n, h, w, i, j) -> (i, j)>,
                     affine_map<(n, h, w, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : memref<4096x18x32xf32>, memref<3x3xf32>) outs(%y : memref<4096x16x30xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "main",
    function_type = (memref<4096x18x32xf32>, memref<3x3xf32>, memref<4096x16x30xf32>) -> ()} : () -> ()

// Tiles no window of which reaches into padding load as wide as those of what is not padded, the
// first columns of pairs alone; of others each element is loaded where it is there, row by row.

// CHECK-LABEL: gpu.func @andi_reduce_loops_2(
// CHECK:           %[[INSIDE:.*]] = arith.andi
// CHECK:           scf.if %{{.*}} {
// CHECK-COUNT-10:    llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK:           } else {
// CHECK:             scf.for
// CHECK-COUNT-12:      scf.if
"hir.program"() ({
^bb0(%x: memref<4096x18x32xf32>, %w: memref<3x3xf32>, %y: memref<4096x18x32xf32>):
  %c1 = arith.constant 1 : index
  %c18 = arith.constant 18 : index
  %c32 = arith.constant 32 : index
  %least = arith.constant 0xFF800000 : f32
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, i, j) -> (i, j)>, affine_map<(n, h, w, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%w : memref<3x3xf32>) outs(%y : memref<4096x18x32xf32>) {
  ^bb0(%b: f32, %d: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %v = linalg.index 2 : index
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %hi = arith.addi %h, %i : index
    %row = arith.subi %hi, %c1 : index
    %vj = arith.addi %v, %j : index
    %column = arith.subi %vj, %c1 : index
    %above = arith.cmpi ult, %row, %c18 : index
    %left = arith.cmpi ult, %column, %c32 : index
    %there = arith.andi %above, %left : i1
    %a = scf.if %there -> f32 {
      %e = memref.load %x[%n, %row, %column] : memref<4096x18x32xf32>
      scf.yield %e : f32
    } else {
      scf.yield %least : f32
    }
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "padded",
    function_type = (memref<4096x18x32xf32>, memref<3x3xf32>, memref<4096x18x32xf32>) -> ()} : () -> ()

// Where windows of neighbouring rows have nothing in common a thread takes one row, whatever windows
// of other dims reach over.

// CHECK-LABEL: gpu.func @reduce_loops_5(
// CHECK-SAME:    rows = 1 : i64
"hir.program"() ({
^bb0(%x: memref<8x16x32xf32>, %w: memref<3x2x2xf32>, %y: memref<6x8x16xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, k, i, j) -> (n + k, h * 2 + i, w * 2 + j)>,
                     affine_map<(n, h, w, k, i, j) -> (k, i, j)>,
                     affine_map<(n, h, w, k, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x, %w : memref<8x16x32xf32>, memref<3x2x2xf32>) outs(%y : memref<6x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 3, 4, 5>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "apart",
    function_type = (memref<8x16x32xf32>, memref<3x2x2xf32>, memref<6x8x16xf32>) -> ()} : () -> ()

// A cube of five is a small window, of which a thread takes two results; seven rows of twenty are
// none.

// CHECK-LABEL: gpu.func @reduce_loops_8(
// CHECK-SAME:    family = "windows"
// CHECK-SAME:    width = 2
// CHECK-LABEL: gpu.func @reduce_loops_10(
// CHECK-SAME:    family = "rows"
"hir.program"() ({
^bb0(%x: memref<9x16x36xf32>, %w: memref<5x5x5xf32>, %y: memref<5x12x32xf32>, %s: memref<22x51xf32>, %v: memref<7x20xf32>, %z: memref<16x32xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, k, i, j) -> (n + k, h + i, w + j)>,
                     affine_map<(n, h, w, k, i, j) -> (k, i, j)>,
                     affine_map<(n, h, w, k, i, j) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x, %w : memref<9x16x36xf32>, memref<5x5x5xf32>) outs(%y : memref<5x12x32xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 3, 4, 5>} : (f32) -> f32
    linalg.yield %m : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(h, w, i, j) -> (h + i, w + j)>,
                     affine_map<(h, w, i, j) -> (i, j)>,
                     affine_map<(h, w, i, j) -> (h, w)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%s, %v : memref<22x51xf32>, memref<7x20xf32>) outs(%z : memref<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 2, 3>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "cubes",
    function_type = (memref<9x16x36xf32>, memref<5x5x5xf32>, memref<5x12x32xf32>, memref<22x51xf32>, memref<7x20xf32>, memref<16x32xf32>) -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_75}' | FileCheck %s --check-prefix=OLD

// A convolution that pads as it reads: copies to shared memory, which read nothing where nothing is,
// products of vectors, and what follows in the same kernel. Older chips have one thread a result.

// CHECK:     gpu.func @{{.*}} kernel
// CHECK:       nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache =  ca, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
// CHECK:       scf.for
// CHECK:         nvvm.cp.async.wait.group
// CHECK:         gpu.barrier
// CHECK:         vector.fma
// CHECK:       scf.for
// CHECK:         arith.maximumf
// CHECK-NOT: gpu.func
// CHECK:     // -----

// OLD:     gpu.func
// OLD-NOT: nvvm.cp.async
// OLD:     // -----
"hir.program"() ({
^bb0(%x: memref<2x3x9x9xf32>, %k: memref<8x3x3x3xf32>, %y: memref<2x8x9x9xf32>):
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {
    indexing_maps = [affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>, affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%k : memref<8x3x3x3xf32>) outs(%y : memref<2x8x9x9xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %c = linalg.index 4 : index
    %i = linalg.index 5 : index
    %j = linalg.index 6 : index
    %0 = arith.addi %h, %i : index
    %1 = arith.subi %0, %c1 : index
    %2 = arith.addi %w, %j : index
    %3 = arith.subi %2, %c1 : index
    %4 = arith.cmpi ult, %1, %c9 : index
    %5 = arith.cmpi ult, %3, %c9 : index
    %6 = arith.andi %4, %5 : i1
    %7 = scf.if %6 -> (f32) {
      %e = memref.load %x[%n, %c, %1, %3] : memref<2x3x9x9xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    %8 = arith.mulf %7, %a : f32
    %9 = "hir.reduce_loops"(%8) {kind = "addf", loops = array<i64: 4, 5, 6>} : (f32) -> f32
    %10 = arith.maximumf %9, %zero : f32
    linalg.yield %10 : f32
  }
}) {function_type = (memref<2x3x9x9xf32>, memref<8x3x3x3xf32>, memref<2x8x9x9xf32>) -> (), inputs = [{name = "x"}, {name = "k"}, {name = "y"}], sym_name = "main"} : () -> ()

// -----

// Where something else than 0 stands for what is not there, or places are not linear in the loops, no
// tiles are made.

// CHECK-NOT: nvvm.cp.async
"hir.program"() ({
^bb0(%x: memref<2x9xf32>, %k: memref<8x3xf32>, %y: memref<2x8x9xf32>, %z: memref<2x8x9xf32>):
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  linalg.generic {
    indexing_maps = [affine_map<(n, f, h, i) -> (f, i)>, affine_map<(n, f, h, i) -> (n, f, h)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%k : memref<8x3xf32>) outs(%y : memref<2x8x9xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 2 : index
    %i = linalg.index 3 : index
    %0 = arith.addi %h, %i : index
    %1 = arith.subi %0, %c1 : index
    %4 = arith.cmpi ult, %1, %c9 : index
    %7 = scf.if %4 -> (f32) {
      %e = memref.load %x[%n, %1] : memref<2x9xf32>
      scf.yield %e : f32
    } else {
      scf.yield %one : f32
    }
    %8 = arith.mulf %7, %a : f32
    %9 = "hir.reduce_loops"(%8) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    linalg.yield %9 : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(n, f, h, i) -> (f, i)>, affine_map<(n, f, h, i) -> (n, f, h)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%k : memref<8x3xf32>) outs(%z : memref<2x8x9xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 2 : index
    %i = linalg.index 3 : index
    %0 = arith.muli %h, %i : index
    %4 = arith.cmpi ult, %0, %c9 : index
    %7 = scf.if %4 -> (f32) {
      %e = memref.load %x[%n, %0] : memref<2x9xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    %8 = arith.mulf %7, %a : f32
    %9 = "hir.reduce_loops"(%8) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    linalg.yield %9 : f32
  }
}) {function_type = (memref<2x9xf32>, memref<8x3xf32>, memref<2x8x9xf32>, memref<2x8x9xf32>) -> (), inputs = [{name = "x"}, {name = "k"}, {name = "y"}, {name = "z"}], sym_name = "main"} : () -> ()

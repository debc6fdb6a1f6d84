// RUN: hirc-opt %s --split-input-file -p 'hir-call-convolution-library{chips=sm_90a}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'hir-call-convolution-library{chips=sm_90a transforms}' | FileCheck %s --check-prefix=TRANSFORMED
// RUN: hirc-opt %s --split-input-file -p 'hir-call-convolution-library{chips=sm_90a falls-back}' | FileCheck %s --check-prefix=KEPT

// No convolution is known to take less time by the library.
// KEPT-COUNT-5: "hir.reduce_loops"

// What is made of the sums follows as an operation on the result.
// CHECK-LABEL: "hir.program"()
// CHECK-NEXT:  ^bb0(%[[X:.*]]: memref<2x8x10x9xf32>, %[[W:.*]]: memref<6x8x3x3xf32>, %[[B:.*]]: memref<6xf32>)
// CHECK:         %[[Y:.*]] = "hir.allocate"
// CHECK-NEXT:    "hir.library_convolution"(%[[X]], %[[W]], %[[Y]]) {
// CHECK-SAME:      compute = "f32", dilations = array<i64: 1, 1>,
// CHECK-SAME:      dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>],
// CHECK-SAME:      direction = "forward", groups = 1 : i64, padding = array<i64: 1, 1>, strides = array<i64: 2, 2>}
// CHECK-NEXT:    linalg.generic {{.*}} ins(%[[B]], %[[Y]] : {{.*}}) outs(%[[Y]] :
// CHECK-NEXT:    ^bb0(%[[BIAS:.*]]: f32, %[[SUM:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[T:.*]] = arith.addf %[[SUM]], %[[BIAS]]
// CHECK-NEXT:      arith.maximumf %[[T]]
// CHECK-NOT:       hir.reduce_loops
// TRANSFORMED:   "hir.library_convolution"({{.*}}strides = array<i64: 2, 2>, transforms}
"hir.program"() ({
^bb0(%arg0: memref<2x8x10x9xf32>, %arg1: memref<6x8x3x3xf32>, %arg2: memref<6xf32>):
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %c2 = arith.constant 2 : index
  %cst = arith.constant 0.000000e+00 : f32
  %0 = "hir.allocate"() {output = 0 : i64} : () -> memref<2x6x5x5xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg1, %arg2 : memref<6x8x3x3xf32>, memref<6xf32>) outs(%0 : memref<2x6x5x5xf32>) attrs =  {hir.tiles} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %1 = linalg.index 0 : index
    %2 = linalg.index 4 : index
    %3 = linalg.index 2 : index
    %4 = arith.muli %3, %c2 : index
    %5 = linalg.index 5 : index
    %6 = arith.addi %4, %5 : index
    %7 = arith.subi %6, %c1 : index
    %8 = arith.cmpi ult, %7, %c10 : index
    %9 = linalg.index 3 : index
    %10 = arith.muli %9, %c2 : index
    %11 = linalg.index 6 : index
    %12 = arith.addi %10, %11 : index
    %13 = arith.subi %12, %c1 : index
    %14 = arith.cmpi ult, %13, %c9 : index
    %15 = arith.andi %8, %14 : i1
    %16 = scf.if %15 -> (f32) {
      %21 = memref.load %arg0[%1, %2, %7, %13] : memref<2x8x10x9xf32>
      scf.yield %21 : f32
    } else {
      scf.yield %cst : f32
    }
    %17 = arith.mulf %16, %in : f32
    %18 = "hir.reduce_loops"(%17) {kind = "addf", loops = array<i64: 4, 5, 6>} : (f32) -> f32
    %19 = arith.addf %18, %in_0 : f32
    %20 = arith.maximumf %19, %cst : f32
    linalg.yield %20 : f32
  }
  "hir.output"(%0) : (memref<2x6x5x5xf32>) -> ()
}) {function_type = (memref<2x8x10x9xf32>, memref<6x8x3x3xf32>, memref<6xf32>) -> memref<2x6x5x5xf32>, sym_name = "forward"} : () -> ()

// -----

// A transposed convolution is the gradient of an image: the weights are read as they were before they
// were turned round, and the copy of them is made no more.
// CHECK-LABEL: "hir.program"()
// CHECK-NEXT:  ^bb0(%[[X:.*]]: memref<2x8x5x4xf32>, %[[W:.*]]: memref<8x3x3x3xf32>, %{{.*}}: memref<6xf32>)
// CHECK:         %[[G:.*]] = memref.expand_shape %[[W]]
// CHECK-NEXT:    %[[R:.*]] = "hir.allocate"() {output = 0 : i64}
// CHECK-NEXT:    %[[Y:.*]] = memref.expand_shape %[[R]]
// CHECK-NEXT:    "hir.library_convolution"(%[[X]], %[[G]], %[[Y]]) {
// CHECK-SAME:      dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 0, 1, 2, 3>, array<i64: 0, 1, 1, 2, 3>],
// CHECK-SAME:      direction = "data_gradient", groups = 2 : i64, padding = array<i64: 1, 1>, strides = array<i64: 2, 2>}
// CHECK-NEXT:    linalg.generic
// CHECK-NOT:     hir.deallocate
"hir.program"() ({
^bb0(%arg0: memref<2x8x5x4xf32>, %arg1: memref<8x3x3x3xf32>, %arg2: memref<6xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %cst = arith.constant 0.000000e+00 : f32
  %c2 = arith.constant 2 : index
  %expand_shape = memref.expand_shape %arg1 [[0, 1], [2], [3], [4]] output_shape [2, 4, 3, 3, 3] : memref<8x3x3x3xf32> into memref<2x4x3x3x3xf32>
  %0 = "hir.allocate"() : () -> memref<2x3x4x3x3xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%0 : memref<2x3x4x3x3xf32>) {
  ^bb0(%out: f32):
    %2 = linalg.index 0 : index
    %3 = linalg.index 1 : index
    %4 = linalg.index 2 : index
    %5 = linalg.index 3 : index
    %6 = linalg.index 4 : index
    %7 = arith.subi %c2, %5 : index
    %8 = arith.subi %c2, %6 : index
    %9 = memref.load %expand_shape[%2, %4, %3, %7, %8] : memref<2x4x3x3x3xf32>
    linalg.yield %9 : f32
  }
  %1 = "hir.allocate"() {output = 0 : i64} : () -> memref<2x6x10x8xf32>
  %expand_shape_0 = memref.expand_shape %1 [[0], [1, 2], [3], [4]] output_shape [2, 2, 3, 10, 8] : memref<2x6x10x8xf32> into memref<2x2x3x10x8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 3 + d2)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0, %arg2 : memref<2x3x4x3x3xf32>, memref<6xf32>) outs(%expand_shape_0 : memref<2x2x3x10x8xf32>) attrs =  {hir.tiles} {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %2 = linalg.index 0 : index
    %3 = linalg.index 1 : index
    %4 = arith.muli %3, %c4 : index
    %5 = linalg.index 5 : index
    %6 = arith.addi %4, %5 : index
    %7 = linalg.index 3 : index
    %8 = linalg.index 6 : index
    %9 = arith.addi %7, %8 : index
    %10 = arith.addi %9, %c1 : index
    %11 = arith.remui %10, %c2 : index
    %12 = arith.cmpi eq, %11, %c0 : index
    %13 = arith.divui %10, %c2 : index
    %14 = arith.subi %13, %c1 : index
    %15 = arith.cmpi ult, %14, %c5 : index
    %16 = linalg.index 4 : index
    %17 = linalg.index 7 : index
    %18 = arith.addi %16, %17 : index
    %19 = arith.addi %18, %c1 : index
    %20 = arith.remui %19, %c2 : index
    %21 = arith.cmpi eq, %20, %c0 : index
    %22 = arith.divui %19, %c2 : index
    %23 = arith.subi %22, %c1 : index
    %24 = arith.cmpi ult, %23, %c4 : index
    %25 = arith.andi %12, %15 : i1
    %26 = arith.andi %25, %21 : i1
    %27 = arith.andi %26, %24 : i1
    %28 = scf.if %27 -> (f32) {
      %34 = memref.load %arg0[%2, %6, %14, %23] : memref<2x8x5x4xf32>
      scf.yield %34 : f32
    } else {
      scf.yield %cst : f32
    }
    %29 = arith.mulf %28, %in : f32
    %30 = "hir.reduce_loops"(%29) {kind = "addf", loops = array<i64: 5, 6, 7>} : (f32) -> f32
    %31 = arith.addf %30, %in_1 : f32
    %32 = arith.cmpf ugt, %31, %cst : f32
    %33 = arith.select %32, %31, %cst : f32
    linalg.yield %33 : f32
  }
  "hir.deallocate"(%0) : (memref<2x3x4x3x3xf32>) -> ()
  "hir.output"(%1) {name = "output0"} : (memref<2x6x10x8xf32>) -> ()
}) {function_type = (memref<2x8x5x4xf32>, memref<8x3x3x3xf32>, memref<6xf32>) -> memref<2x6x10x8xf32>, sym_name = "transposed"} : () -> ()

// -----

// cuDNN has no gradient of an image that lies with channels last, but where all do.
// CHECK-LABEL: "hir.program"()
// CHECK-NOT:     hir.library_convolution
// CHECK:         "hir.reduce_loops"
"hir.program"() ({
^bb0(%arg0: memref<2x5x4x8xf32>, %arg1: memref<8x3x3x3xf32>, %arg2: memref<6xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %cst = arith.constant 0.000000e+00 : f32
  %c2 = arith.constant 2 : index
  %expand_shape = memref.expand_shape %arg1 [[0, 1], [2], [3], [4]] output_shape [2, 4, 3, 3, 3] : memref<8x3x3x3xf32> into memref<2x4x3x3x3xf32>
  %0 = "hir.allocate"() : () -> memref<2x3x4x3x3xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%0 : memref<2x3x4x3x3xf32>) {
  ^bb0(%out: f32):
    %2 = linalg.index 0 : index
    %3 = linalg.index 1 : index
    %4 = linalg.index 2 : index
    %5 = linalg.index 3 : index
    %6 = linalg.index 4 : index
    %7 = arith.subi %c2, %5 : index
    %8 = arith.subi %c2, %6 : index
    %9 = memref.load %expand_shape[%2, %4, %3, %7, %8] : memref<2x4x3x3x3xf32>
    linalg.yield %9 : f32
  }
  %1 = "hir.allocate"() {output = 0 : i64} : () -> memref<2x6x10x8xf32>
  %expand_shape_0 = memref.expand_shape %1 [[0], [1, 2], [3], [4]] output_shape [2, 2, 3, 10, 8] : memref<2x6x10x8xf32> into memref<2x2x3x10x8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 3 + d2)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0, %arg2 : memref<2x3x4x3x3xf32>, memref<6xf32>) outs(%expand_shape_0 : memref<2x2x3x10x8xf32>) attrs =  {hir.tiles} {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %2 = linalg.index 0 : index
    %3 = linalg.index 1 : index
    %4 = arith.muli %3, %c4 : index
    %5 = linalg.index 5 : index
    %6 = arith.addi %4, %5 : index
    %7 = linalg.index 3 : index
    %8 = linalg.index 6 : index
    %9 = arith.addi %7, %8 : index
    %10 = arith.addi %9, %c1 : index
    %11 = arith.remui %10, %c2 : index
    %12 = arith.cmpi eq, %11, %c0 : index
    %13 = arith.divui %10, %c2 : index
    %14 = arith.subi %13, %c1 : index
    %15 = arith.cmpi ult, %14, %c5 : index
    %16 = linalg.index 4 : index
    %17 = linalg.index 7 : index
    %18 = arith.addi %16, %17 : index
    %19 = arith.addi %18, %c1 : index
    %20 = arith.remui %19, %c2 : index
    %21 = arith.cmpi eq, %20, %c0 : index
    %22 = arith.divui %19, %c2 : index
    %23 = arith.subi %22, %c1 : index
    %24 = arith.cmpi ult, %23, %c4 : index
    %25 = arith.andi %12, %15 : i1
    %26 = arith.andi %25, %21 : i1
    %27 = arith.andi %26, %24 : i1
    %28 = scf.if %27 -> (f32) {
      %34 = memref.load %arg0[%2, %14, %23, %6] : memref<2x5x4x8xf32>
      scf.yield %34 : f32
    } else {
      scf.yield %cst : f32
    }
    %29 = arith.mulf %28, %in : f32
    %30 = "hir.reduce_loops"(%29) {kind = "addf", loops = array<i64: 5, 6, 7>} : (f32) -> f32
    %31 = arith.addf %30, %in_1 : f32
    %32 = arith.cmpf ugt, %31, %cst : f32
    %33 = arith.select %32, %31, %cst : f32
    linalg.yield %33 : f32
  }
  "hir.deallocate"(%0) : (memref<2x3x4x3x3xf32>) -> ()
  "hir.output"(%1) {name = "output0"} : (memref<2x6x10x8xf32>) -> ()
}) {function_type = (memref<2x5x4x8xf32>, memref<8x3x3x3xf32>, memref<6xf32>) -> memref<2x6x10x8xf32>, sym_name = "mixed"} : () -> ()

// -----

// The weights that were copied are others by the time that the copy is read.
// CHECK-LABEL: "hir.program"()
// CHECK:         linalg.fill
// CHECK-NOT:     hir.library_convolution
// CHECK:         "hir.reduce_loops"
"hir.program"() ({
^bb0(%arg0: memref<2x8x5x4xf32>, %arg1: memref<8x3x3x3xf32>, %arg2: memref<6xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %cst = arith.constant 0.000000e+00 : f32
  %c2 = arith.constant 2 : index
  %expand_shape = memref.expand_shape %arg1 [[0, 1], [2], [3], [4]] output_shape [2, 4, 3, 3, 3] : memref<8x3x3x3xf32> into memref<2x4x3x3x3xf32>
  %0 = "hir.allocate"() : () -> memref<2x3x4x3x3xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%0 : memref<2x3x4x3x3xf32>) {
  ^bb0(%out: f32):
    %2 = linalg.index 0 : index
    %3 = linalg.index 1 : index
    %4 = linalg.index 2 : index
    %5 = linalg.index 3 : index
    %6 = linalg.index 4 : index
    %7 = arith.subi %c2, %5 : index
    %8 = arith.subi %c2, %6 : index
    %9 = memref.load %expand_shape[%2, %4, %3, %7, %8] : memref<2x4x3x3x3xf32>
    linalg.yield %9 : f32
  }
  linalg.fill ins(%cst : f32) outs(%arg1 : memref<8x3x3x3xf32>)
  %1 = "hir.allocate"() {output = 0 : i64} : () -> memref<2x6x10x8xf32>
  %expand_shape_0 = memref.expand_shape %1 [[0], [1, 2], [3], [4]] output_shape [2, 2, 3, 10, 8] : memref<2x6x10x8xf32> into memref<2x2x3x10x8xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1 * 3 + d2)>, affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0, %arg2 : memref<2x3x4x3x3xf32>, memref<6xf32>) outs(%expand_shape_0 : memref<2x2x3x10x8xf32>) attrs =  {hir.tiles} {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %2 = linalg.index 0 : index
    %3 = linalg.index 1 : index
    %4 = arith.muli %3, %c4 : index
    %5 = linalg.index 5 : index
    %6 = arith.addi %4, %5 : index
    %7 = linalg.index 3 : index
    %8 = linalg.index 6 : index
    %9 = arith.addi %7, %8 : index
    %10 = arith.addi %9, %c1 : index
    %11 = arith.remui %10, %c2 : index
    %12 = arith.cmpi eq, %11, %c0 : index
    %13 = arith.divui %10, %c2 : index
    %14 = arith.subi %13, %c1 : index
    %15 = arith.cmpi ult, %14, %c5 : index
    %16 = linalg.index 4 : index
    %17 = linalg.index 7 : index
    %18 = arith.addi %16, %17 : index
    %19 = arith.addi %18, %c1 : index
    %20 = arith.remui %19, %c2 : index
    %21 = arith.cmpi eq, %20, %c0 : index
    %22 = arith.divui %19, %c2 : index
    %23 = arith.subi %22, %c1 : index
    %24 = arith.cmpi ult, %23, %c4 : index
    %25 = arith.andi %12, %15 : i1
    %26 = arith.andi %25, %21 : i1
    %27 = arith.andi %26, %24 : i1
    %28 = scf.if %27 -> (f32) {
      %34 = memref.load %arg0[%2, %6, %14, %23] : memref<2x8x5x4xf32>
      scf.yield %34 : f32
    } else {
      scf.yield %cst : f32
    }
    %29 = arith.mulf %28, %in : f32
    %30 = "hir.reduce_loops"(%29) {kind = "addf", loops = array<i64: 5, 6, 7>} : (f32) -> f32
    %31 = arith.addf %30, %in_1 : f32
    %32 = arith.cmpf ugt, %31, %cst : f32
    %33 = arith.select %32, %31, %cst : f32
    linalg.yield %33 : f32
  }
  "hir.deallocate"(%0) : (memref<2x3x4x3x3xf32>) -> ()
  "hir.output"(%1) {name = "output0"} : (memref<2x6x10x8xf32>) -> ()
}) {function_type = (memref<2x8x5x4xf32>, memref<8x3x3x3xf32>, memref<6xf32>) -> memref<2x6x10x8xf32>, sym_name = "changed"} : () -> ()

// -----

// What is added to the sums lies where they would be written.
// CHECK-LABEL: "hir.program"()
// CHECK-NOT:     hir.library_convolution
// CHECK:         "hir.reduce_loops"
"hir.program"() ({
^bb0(%arg0: memref<2x8x10x9xf32>, %arg1: memref<6x8x3x3xf32>, %arg2: memref<6xf32>):
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %c2 = arith.constant 2 : index
  %cst = arith.constant 0.000000e+00 : f32
  %0 = "hir.allocate"() {output = 0 : i64} : () -> memref<2x6x5x5xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg1, %0 : memref<6x8x3x3xf32>, memref<2x6x5x5xf32>) outs(%0 : memref<2x6x5x5xf32>) attrs =  {hir.tiles} {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %1 = linalg.index 0 : index
    %2 = linalg.index 4 : index
    %3 = linalg.index 2 : index
    %4 = arith.muli %3, %c2 : index
    %5 = linalg.index 5 : index
    %6 = arith.addi %4, %5 : index
    %7 = arith.subi %6, %c1 : index
    %8 = arith.cmpi ult, %7, %c10 : index
    %9 = linalg.index 3 : index
    %10 = arith.muli %9, %c2 : index
    %11 = linalg.index 6 : index
    %12 = arith.addi %10, %11 : index
    %13 = arith.subi %12, %c1 : index
    %14 = arith.cmpi ult, %13, %c9 : index
    %15 = arith.andi %8, %14 : i1
    %16 = scf.if %15 -> (f32) {
      %21 = memref.load %arg0[%1, %2, %7, %13] : memref<2x8x10x9xf32>
      scf.yield %21 : f32
    } else {
      scf.yield %cst : f32
    }
    %17 = arith.mulf %16, %in : f32
    %18 = "hir.reduce_loops"(%17) {kind = "addf", loops = array<i64: 4, 5, 6>} : (f32) -> f32
    %19 = arith.addf %18, %in_0 : f32
    %20 = arith.maximumf %19, %cst : f32
    linalg.yield %20 : f32
  }
  "hir.output"(%0) : (memref<2x6x5x5xf32>) -> ()
}) {function_type = (memref<2x8x10x9xf32>, memref<6x8x3x3xf32>, memref<6xf32>) -> memref<2x6x5x5xf32>, sym_name = "in_place"} : () -> ()

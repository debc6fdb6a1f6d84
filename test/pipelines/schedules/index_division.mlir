// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels,hir.launcher(canonicalize,cse),gpu.module(gpu.func(canonicalize,cse))' | FileCheck %s

// The host divides once; the kernel multiplies twice the index, and shifts by the divisor's bits,
// none of a row of one vector.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         %[[VECTORS:.*]] = arith.divui %{{.*}}, %c4
// CHECK:         %[[SOME:.*]] = arith.maxui %[[VECTORS]], %c1
// CHECK:         %[[LARGE:.*]] = arith.index_cast %[[SOME]] : index to i64
// CHECK:         %[[BY:.*]] = arith.minui %[[LARGE]], %c2147483648_i64{{.*}}
// CHECK:         %[[LESS:.*]] = arith.subi %[[BY]], %c1_i64{{.*}}
// CHECK:         %[[ZEROS:.*]] = math.ctlz %[[LESS]] : i64
// CHECK:         %[[BITS:.*]] = arith.subi %c64_i64{{[_0-9]*}}, %[[ZEROS]]
// CHECK:         %[[POWER:.*]] = arith.shli %c2147483648_i64{{[_0-9]*}}, %[[BITS]]
// CHECK:         %[[MOST:.*]] = arith.subi %[[POWER]], %c1_i64{{.*}}
// CHECK:         %[[BELOW:.*]] = arith.divui %[[MOST]], %[[BY]]
// CHECK:         %[[NEXT:.*]] = arith.addi %[[BELOW]], %c1_i64{{.*}}
// CHECK:         %[[FACTOR:.*]] = arith.trunci %[[NEXT]] : i64 to i32
// CHECK:         %[[SHIFT:.*]] = arith.trunci %[[BITS]] : i64 to i32
// CHECK:         "hir.argument"(%[[FACTOR]]) : (i32)
// CHECK:         "hir.argument"(%[[SHIFT]]) : (i32)
// CHECK-LABEL: gpu.func @addf_0(
// CHECK-SAME:      %[[GIVEN:[a-z0-9]*]]: i32, %[[BY:[a-z0-9]*]]: i32
// CHECK-NOT:     arith.divui {{.*}} : i32
// CHECK:         arith.extui %[[GIVEN]] : i32 to i64
// CHECK:         %[[UPPER:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         arith.shrui %[[UPPER]], %[[BY]] : i32
// CHECK-NOT:     arith.remui
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %bias: memref<?xf32>, %y: memref<?x?xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %bias : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>, memref<?x?xf32>) -> ()} : () -> ()

// -----

// So do rows that are of two loops: their elements, and numbers of rows.

// CHECK-LABEL: gpu.func @reduce_loops_part_0(
// CHECK-NOT:     arith.{{div|rem}}ui {{.*}} : i32
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<?x?x?x?xf32>, %y: memref<?x?xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, c)>],
    iterator_types = ["parallel", "reduction", "parallel", "reduction"]
  } ins(%x : memref<?x?x?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1, 3>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "apart", function_type = (memref<?x?x?x?xf32>, memref<?x?xf32>) -> ()} : () -> ()

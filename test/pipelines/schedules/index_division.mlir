// RUN: hirc-opt %s -p 'hir-schedule-kernels,hir.program(canonicalize,cse),gpu.module(gpu.func(canonicalize,cse))' | FileCheck %s

// The host divides once; the kernel multiplies. A row of one vector has the factor 2^64, passed as 0.

// CHECK-LABEL: "hir.program"()
// CHECK:         %[[VECTORS:.*]] = arith.divui %{{.*}}, %c4
// CHECK:         %[[SOME:.*]] = arith.maxui %[[VECTORS]], %c1
// CHECK:         %[[BY:.*]] = arith.index_cast %[[SOME]] : index to i64
// CHECK:         %[[LESS:.*]] = arith.divui %c-1_i64, %[[BY]]
// CHECK:         %[[FACTOR:.*]] = arith.addi %[[LESS]], %c1_i64
// CHECK:         "hir.argument"(%[[FACTOR]]) : (i64)
// CHECK-LABEL: gpu.func @addf_0(
// CHECK-SAME:      %[[GIVEN:[a-z0-9]*]]: i64
// CHECK-NOT:     arith.divui {{.*}} : i32
// CHECK:         arith.trunci %[[GIVEN]] : i64 to i32
// CHECK:         arith.cmpi eq, %[[GIVEN]], %c0_i64
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

// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90}' --split-input-file | FileCheck %s

// Elements that one block computes as single elements get no kernel for rows of vectors, and no more
// of them a thread than the block needs.

// CHECK-LABEL: gpu.func @negf_0
// CHECK-SAME:    kernel = "flat"
// CHECK-LABEL: gpu.func @negf_1
// CHECK-SAME:    kernel = "single", layout = "any"
// CHECK-SAME:    unroll = 2
// CHECK-NOT:   gpu.func
"hir.program"() ({
^bb0(%x: memref<8x64xf32, strided<[?, ?], offset: ?>>, %y: memref<8x64xf32, strided<[?, ?], offset: ?>>):
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x64xf32, strided<[?, ?], offset: ?>>) outs(%y : memref<8x64xf32, strided<[?, ?], offset: ?>>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
}) {sym_name = "main", function_type = (memref<8x64xf32, strided<[?, ?], offset: ?>>, memref<8x64xf32, strided<[?, ?], offset: ?>>) -> ()} : () -> ()

// -----

// More than one block has are scheduled as ever.

// CHECK-LABEL: gpu.func @negf_0
// CHECK-SAME:    kernel = "flat"
// CHECK-LABEL: gpu.func @negf_1
// CHECK-SAME:    kernel = "rows"
// CHECK-LABEL: gpu.func @negf_2
// CHECK-SAME:    kernel = "single", layout = "any"
// CHECK-SAME:    unroll = 8
"hir.program"() ({
^bb0(%x: memref<8x260xf32, strided<[?, ?], offset: ?>>, %y: memref<8x260xf32, strided<[?, ?], offset: ?>>):
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x260xf32, strided<[?, ?], offset: ?>>) outs(%y : memref<8x260xf32, strided<[?, ?], offset: ?>>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
}) {sym_name = "main", function_type = (memref<8x260xf32, strided<[?, ?], offset: ?>>, memref<8x260xf32, strided<[?, ?], offset: ?>>) -> ()} : () -> ()

// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a}' | grep 'gpu.func' | FileCheck %s

// Tiles that threads copy compute three rows and more times a factor of f32 that lies by columns,
// where these are many. Of fewer columns, and by terms, it is the kernel of few rows.
#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (k, n)>
#terms = affine_map<(m, n, k) -> (n, k)>
#sums = affine_map<(m, n, k) -> (m, n)>
// CHECK: @mulf_reduce_loops_0({{.*}}family = "contraction"
"hir.program"() ({
^bb0(%x: memref<4x512xf32>, %w: memref<512x4096xf32>, %y: memref<4x4096xf32>):
  linalg.generic {indexing_maps = [#rows, #columns, #sums],
                  iterator_types = ["parallel", "parallel", "reduction"], hir.tiles}
    ins(%x, %w : memref<4x512xf32>, memref<512x4096xf32>) outs(%y : memref<4x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "columns",
    function_type = (memref<4x512xf32>, memref<512x4096xf32>, memref<4x4096xf32>) -> ()} : () -> ()
// CHECK: family = "few_rows"
"hir.program"() ({
^bb0(%x: memref<4x512xf32>, %w: memref<512x1024xf32>, %y: memref<4x1024xf32>):
  linalg.generic {indexing_maps = [#rows, #columns, #sums],
                  iterator_types = ["parallel", "parallel", "reduction"], hir.tiles}
    ins(%x, %w : memref<4x512xf32>, memref<512x1024xf32>) outs(%y : memref<4x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "few_columns",
    function_type = (memref<4x512xf32>, memref<512x1024xf32>, memref<4x1024xf32>) -> ()} : () -> ()
// CHECK: family = "few_rows"
"hir.program"() ({
^bb0(%x: memref<8x512xf32>, %w: memref<4096x512xf32>, %y: memref<8x4096xf32>):
  linalg.generic {indexing_maps = [#rows, #terms, #sums],
                  iterator_types = ["parallel", "parallel", "reduction"], hir.tiles}
    ins(%x, %w : memref<8x512xf32>, memref<4096x512xf32>) outs(%y : memref<8x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "terms",
    function_type = (memref<8x512xf32>, memref<4096x512xf32>, memref<8x4096xf32>) -> ()} : () -> ()

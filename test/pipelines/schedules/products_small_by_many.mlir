// One small matrix times many, which lie as several loops of columns, is not for a warpgroup's tile,
// most of which would be padding. Near misses are: a matrix of more rows, and columns that are one loop.

// RUN: sed 's/SIZE/32/g; s/MANY/4096/g; s/LONG/32/g' %s > %t.small.mlir
// RUN: hirc-opt %t.small.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s
// RUN: sed 's/SIZE/40/g; s/MANY/4096/g; s/LONG/32/g' %s > %t.larger.mlir
// RUN: hirc-opt %t.larger.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=GROUPS
// RUN: sed 's/SIZE/32/g; s/MANY/1/g; s/LONG/262144/g' %s > %t.one.mlir
// RUN: hirc-opt %t.one.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=GROUPS

// CHECK-NOT: nvvm.wgmma
// CHECK:     gpu.func @
// CHECK-NOT: nvvm.wgmma
// GROUPS:    nvvm.wgmma
"hir.program"() ({
^bb0(%x: memref<MANYxSIZExLONGxbf16>, %w: memref<SIZExSIZExbf16>, %y: memref<MANYxSIZExLONGxbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(b, i, n, k) -> (i, k)>, affine_map<(b, i, n, k) -> (b, k, n)>, affine_map<(b, i, n, k) -> (b, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%w, %x : memref<SIZExSIZExbf16>, memref<MANYxSIZExLONGxbf16>) outs(%y : memref<MANYxSIZExLONGxbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  }
}) {sym_name = "main", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<MANYxSIZExLONGxbf16>, memref<SIZExSIZExbf16>, memref<MANYxSIZExLONGxbf16>) -> ()} : () -> ()

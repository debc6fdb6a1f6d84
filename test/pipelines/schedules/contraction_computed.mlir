// A factor that the region makes of weights of 8 bits and a scale of each row: copies bring the
// weights, threads compute the factor, tensor cores multiply it. Where rows are few, another
// kernel adds parts of the sums.
//
// RUN: sed 's/ROWS/64/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=CHECK,GROUPS
// RUN: sed 's/ROWS/64/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_80}' | FileCheck %s --check-prefixes=CHECK,WARPS
//
// An open number of rows has a kernel for each tile, and two for many: one writes the factor.
//
// RUN: sed 's/ROWS/?/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=OPEN

// CHECK-LABEL: gpu.func
// CHECK:         nvvm.cp.async.shared.global
// GROUPS:        nvvm.wgmma.mma_async
// WARPS:         nvvm.mma.sync
// CHECK:         arith.mulf
// CHECK:         arith.truncf
// OPEN:          %[[FACTOR:.*]] = "hir.allocate"() {hirc.scratch} : () -> memref<2048x1024xbf16>
// OPEN:          "hir.argument"(%[[FACTOR]])
// OPEN:          "hir.deallocate"(%[[FACTOR]])
// OPEN:        nvvm.wgmma.mma_async
"hir.program"() ({
^bb0(%x: memref<ROWSx1024xbf16>, %w: memref<2048x1024xi8>, %s: memref<2048xbf16>, %y: memref<ROWSx2048xf32>):
  linalg.generic {hir.tiles,
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w, %s : memref<ROWSx1024xbf16>, memref<2048x1024xi8>, memref<2048xbf16>) outs(%y : memref<ROWSx2048xf32>) {
  ^bb0(%a: bf16, %b: i8, %c: bf16, %o: f32):
    %0 = arith.sitofp %b : i8 to f32
    %1 = arith.extf %c : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    %4 = arith.extf %a : bf16 to f32
    %5 = arith.extf %3 : bf16 to f32
    %6 = arith.mulf %4, %5 : f32
    %7 = "hir.reduce_loops"(%6) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %7 : f32
  }
}) {sym_name = "main", function_type = (memref<ROWSx1024xbf16>, memref<2048x1024xi8>, memref<2048xbf16>, memref<ROWSx2048xf32>) -> ()} : () -> ()

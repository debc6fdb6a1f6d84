// What has an element for each result comes as the factors do, by the copy engine and through the
// ring of stages: of 2 or 4 bytes, rows of any length that is a multiple of 16 bytes, in one piece
// or more, and several operands.
//
// RUN: sed 's/WIDE/arith.extf %c : ELEMENT to f32/; s/ELEMENT/bf16/g; s/MAP/m, n/; s/KIND/4096x2048xbf16/; s/COLUMNS/2048/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=COPIES,ONE
// RUN: sed 's/WIDE/arith.addf %c, %c : f32/; s/ELEMENT/f32/g; s/MAP/m, n/; s/KIND/4096x2048xf32/; s/COLUMNS/2048/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=COPIES,ONE
// RUN: sed 's/WIDE/arith.extf %c : ELEMENT to f32/; s/ELEMENT/bf16/g; s/MAP/m, n/; s/KIND/4096x2048xbf16, strided<[4096, 1], offset: 64>/; s/COLUMNS/2048/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=COPIES,ONE
// RUN: sed 's/WIDE/arith.extf %c : ELEMENT to f32/; s/ELEMENT/bf16/g; s/MAP/m, n/; s/KIND/?x2048xbf16, strided<[?, 1], offset: ?>/; s/COLUMNS/2048/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=COPIES,ONE
//
// Threads load what has fewer elements, lies by columns, has bytes for elements, or begins its rows
// elsewhere, as with 2052 columns; and each column of what has 2049.
//
// RUN: sed 's/WIDE/arith.extf %c : ELEMENT to f32/; s/ELEMENT/bf16/g; s/MAP/n/; s/KIND/2048xbf16/; s/COLUMNS/2048/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=LOADS
// RUN: sed 's/WIDE/arith.extf %c : ELEMENT to f32/; s/ELEMENT/bf16/g; s/MAP/m/; s/KIND/4096xbf16/; s/COLUMNS/2048/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=LOADS
// RUN: sed 's/WIDE/arith.extf %c : ELEMENT to f32/; s/ELEMENT/bf16/g; s/MAP/n, m/; s/KIND/2048x4096xbf16/; s/COLUMNS/2048/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=LOADS
// RUN: sed 's/WIDE/arith.extf %c : ELEMENT to f32/; s/ELEMENT/f8E4M3FN/g; s/MAP/m, n/; s/KIND/4096x2048xf8E4M3FN/; s/COLUMNS/2048/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=LOADS
// RUN: sed 's/WIDE/arith.extf %c : ELEMENT to f32/; s/ELEMENT/bf16/g; s/MAP/m, n/; s/KIND/4096x2048xbf16, strided<[2052, 1]>/; s/COLUMNS/2048/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=LOADS
// RUN: sed 's/WIDE/arith.extf %c : ELEMENT to f32/; s/ELEMENT/bf16/g; s/MAP/m, n/; s/KIND/4096x2049xbf16/; s/COLUMNS/2049/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=LOADS

// COPIES:     gpu.func @{{.*}}hir.configuration = {{{.*}}companions = true
// ONE-COUNT-3: nvvm.prefetch
// What a thread has read is read before the next copy comes: that does not wait for loads.
// COPIES:       nvvm.wgmma.mma_async
// COPIES:       nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// COPIES:       nvvm.bar.warp.sync
// COPIES:       nvvm.mbarrier.arrive
// LOADS:      gpu.func @{{.*}}hir.configuration = {{{.*}}companions = false
// LOADS-NOT:    nvvm.bar.warp.sync
// LOADS:      gpu.func

"hir.program"() ({
^bb0(%x: memref<4096x512xbf16>, %w: memref<COLUMNSx512xbf16>, %r: memref<KIND>, %y: memref<4096xCOLUMNSxbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (MAP)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w, %r : memref<4096x512xbf16>, memref<COLUMNSx512xbf16>, memref<KIND>) outs(%y : memref<4096xCOLUMNSxbf16>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %c: ELEMENT, %o: bf16):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %e = WIDE
    %v = arith.addf %s, %e : f32
    %n = arith.truncf %v : f32 to bf16
    linalg.yield %n : bf16
  }
}) {sym_name = "product", inputs = [{name = "x"}, {name = "w"}, {name = "r"}, {name = "y"}], function_type = (memref<4096x512xbf16>, memref<COLUMNSx512xbf16>, memref<KIND>, memref<4096xCOLUMNSxbf16>) -> ()} : () -> ()

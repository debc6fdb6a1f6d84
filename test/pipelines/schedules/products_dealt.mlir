// Of columns that are multiples of 32, of which terms are neighbours, the copy engine deals those of
// each 32: lanes then have runs of results, and exchange none.
//
// RUN: sed 's/SECOND/n, k/; s/TYPE/COLUMNSx512xbf16/; s/RESULT/bf16/g; s/COLUMNS/2080/g; s/ASKED//' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=DEALT
//
// Not where there are others, columns are neighbours in memory, sums are made in parts, or results
// are f32, whose pairs are stored as they are.
//
// RUN: sed 's/SECOND/n, k/; s/TYPE/COLUMNSx512xbf16/; s/RESULT/bf16/g; s/COLUMNS/2072/g; s/ASKED//' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=EXCHANGED
// RUN: sed 's/SECOND/k, n/; s/TYPE/512xCOLUMNSxbf16/; s/RESULT/bf16/g; s/COLUMNS/2080/g; s/ASKED//' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=EXCHANGED
// RUN: sed 's/SECOND/n, k/; s/TYPE/COLUMNSx512xbf16/; s/RESULT/bf16/g; s/COLUMNS/2080/g; s/ASKED/, hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, parts = 2, apart = false}/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=PARTS
// RUN: sed 's/SECOND/n, k/; s/TYPE/COLUMNSx512xbf16/; s/RESULT/f32/g; s/COLUMNS/2080/g; s/ASKED//; s/arith.truncf %all : f32 to f32/arith.negf %all : f32/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE

// DEALT:         gpu.func @{{.*}}x4x4x2x64xbf16
// DEALT-NOT:       gpu.shuffle xor
// DEALT:         gpu.func @
// EXCHANGED:     gpu.func @{{.*}}hir.configuration
// EXCHANGED-NOT:   x4x4x2x64xbf16
// EXCHANGED:       gpu.shuffle xor
// PARTS:         gpu.func @{{.*}}memref<64x64xbf16, 3>{{.*}}memref<64x64xbf16, 3>{{.*}}parts = 2
// WHOLE-NOT:     x4x4x2x64xbf16

"hir.program"() ({
^bb0(%x: memref<4096x512xbf16>, %w: memref<TYPE>, %y: memref<4096xCOLUMNSxRESULT>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (SECOND)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x512xbf16>, memref<TYPE>) outs(%y : memref<4096xCOLUMNSxRESULT>) attrs = {hir.tiles ASKED} {
  ^bb0(%a: bf16, %b: bf16, %o: RESULT):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %all = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %n = arith.truncf %all : f32 to RESULT
    linalg.yield %n : RESULT
  }
}) {sym_name = "product", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x512xbf16>, memref<TYPE>, memref<4096xCOLUMNSxRESULT>) -> ()} : () -> ()

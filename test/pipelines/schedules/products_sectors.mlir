// Rows that begin within sectors of 32 bytes take the copy engine twice as long: blocks of a cluster
// then copy for each other, and no more is read of them than is asked for. 1360 elements of 8 bits,
// or 2056 of 16, are such rows.
//
// RUN: sed 's/ELEMENT/f8E4M3FN/g; s/TERMS/1360/g; s/ROWS/4864/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=SPLIT
// RUN: sed 's/ELEMENT/bf16/g; s/TERMS/2056/g; s/ROWS/4864/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=SPLIT
//
// 1376 and 2064 are not, nor are those of a length that is not known; and rows that fill one tile have
// none beside them.
//
// RUN: sed 's/ELEMENT/f8E4M3FN/g; s/TERMS/1376/g; s/ROWS/4864/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/ELEMENT/bf16/g; s/TERMS/2064/g; s/ROWS/4864/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/ELEMENT/bf16/g; s/TERMS/?/g; s/ROWS/4864/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE

// SPLIT:     gpu.func @{{.*}}l2promo = none{{.*}}l2promo = none{{.*}}hir.configuration = {{{.*(across = 2 : i64.*down = 1|across = 1 : i64.*down = 2)}} : i64
// SPLIT:       nvvm.cluster.arrive.relaxed
// SPLIT:       multicast_mask
// WHOLE:     gpu.func @{{.*}}l2promo = l2promo_256b{{.*}}l2promo = l2promo_256b{{.*}}across = 1 : i64{{.*}}down = 1 : i64
// WHOLE-NOT:   nvvm.cluster

"hir.program"() ({
^bb0(%x: memref<ROWSxTERMSxELEMENT>, %w: memref<4688xTERMSxELEMENT>, %y: memref<ROWSx4688xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<ROWSxTERMSxELEMENT>, memref<4688xTERMSxELEMENT>) outs(%y : memref<ROWSx4688xf32>) attrs = {hir.tiles} {
  ^bb0(%a: ELEMENT, %b: ELEMENT, %o: f32):
    %p = arith.extf %a : ELEMENT to f32
    %q = arith.extf %b : ELEMENT to f32
    %m = arith.mulf %p, %q : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "product", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<ROWSxTERMSxELEMENT>, memref<4688xTERMSxELEMENT>, memref<ROWSx4688xf32>) -> ()} : () -> ()

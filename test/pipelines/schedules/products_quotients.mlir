// What follows a product by warpgroups divides without calls. A quotient that is rounded to 16 bits, or
// multiplied before, is a product with an approximate reciprocal; by 1 more than a power, that is
// approximate too.
//
// RUN: sed 's/TYPE/bf16/g; s/OTHER/arith.mulf %d, %all/; s/ONE/1.0/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=ROUGH
// RUN: sed 's/TYPE/f16/g; s/OTHER/arith.mulf %d, %all/; s/ONE/1.0/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=ROUGH
//
// Not so that of a result of f32, or where something is added; and a power that is read twice, or that
// another number is added to, stays as it is.
//
// RUN: sed 's/TYPE/f32/g; s/%last = arith.truncf %v : f32 to f32/%last = arith.mulf %v, %one : f32/; s/OTHER/arith.mulf %d, %all/; s/ONE/1.0/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=EXACT
// RUN: sed 's/TYPE/bf16/g; s/OTHER/arith.subf %d, %all/; s/ONE/1.0/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=EXACT
// RUN: sed 's/TYPE/bf16/g; s/OTHER/arith.mulf %d, %e/; s/ONE/1.0/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=POWER
// RUN: sed 's/TYPE/bf16/g; s/OTHER/arith.mulf %d, %all/; s/ONE/2.0/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=POWER

// ROUGH:     gpu.func @{{.*}}tensormap
// ROUGH:       math.exp %{{.*}} fastmath<afn>
// ROUGH-NOT:   math.fma
// ROUGH:       nvvm.rcp.approx.ftz.f
// ROUGH-NOT:   math.fma
// ROUGH:     gpu.func @
// EXACT:     gpu.func @{{.*}}tensormap
// EXACT:       math.exp %{{[a-z0-9_]*}} : f32
// EXACT:       nvvm.rcp.approx.ftz.f
// EXACT:       math.fma
// POWER:     gpu.func @{{.*}}tensormap
// POWER:       math.exp %{{[a-z0-9_]*}} : f32
// POWER-NOT:   math.fma
// POWER:       nvvm.rcp.approx.ftz.f
// POWER-NOT:   math.fma
// POWER:     gpu.func @

"hir.program"() ({
^bb0(%x: memref<4096x512xbf16>, %w: memref<2048x512xbf16>, %y: memref<4096x2048xTYPE>):
  %one = arith.constant ONE : f32
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x512xbf16>, memref<2048x512xbf16>) outs(%y : memref<4096x2048xTYPE>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %o: TYPE):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %all = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %n = arith.negf %all : f32
    %e = math.exp %n : f32
    %u = arith.addf %e, %one : f32
    %d = arith.divf %one, %u : f32
    %v = OTHER : f32
    %last = arith.truncf %v : f32 to TYPE
    linalg.yield %last : TYPE
  }
}) {sym_name = "product", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x512xbf16>, memref<2048x512xbf16>, memref<4096x2048xTYPE>) -> ()} : () -> ()

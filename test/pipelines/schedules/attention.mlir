// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s

// Four warps have the same rows: each multiplies by 16 of the 64 keys, and adds their values, two tiles of 8
// columns. At the end they meet, and threads take the results one by one.

// CHECK: gpu.func @attention_0({{.*}}key_warps = 4 : i64, keys = 64 : i64, {{.*}}parts = 1 : i64, {{.*}}warps = 4 : i64}, known_block_size = array<i32: 128, 1, 1>}
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-COUNT-6: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-4: math.exp2
// CHECK: arith.divf
// CHECK: gpu.return
// CHECK: gpu.func @attention_1(
// CHECK-SAME: key_warps = 4 : i64
"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", warps = 4, key_warps = 4, keys = 64, parts = 1}} {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %d: bf16):
    %q = arith.extf %a : bf16 to f32
    %k = arith.extf %b : bf16 to f32
    %v = arith.extf %c : bf16 to f32
    %p = arith.mulf %q, %k : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %m = "hir.reduce_loops"(%s) {kind = "maximumf", loops = array<i64: 3>} : (f32) -> f32
    %l = arith.subf %s, %m : f32
    %e = math.exp %l : f32
    %t = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    %w = arith.divf %e, %t : f32
    %n = arith.truncf %w : f32 to bf16
    %x = arith.extf %n : bf16 to f32
    %y = arith.mulf %x, %v : f32
    %r = "hir.reduce_loops"(%y) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    %z = arith.truncf %r : f32 to bf16
    linalg.yield %z : bf16
  }
}) {sym_name = "main", function_type = (memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>, memref<3x5x16xbf16>) -> ()} : () -> ()

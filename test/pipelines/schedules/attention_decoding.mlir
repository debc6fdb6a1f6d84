// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s
// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_80}' | FileCheck %s --check-prefix=OLDER

// Of one query a head, the copy engine brings keys and values: whole rows, several chunks of 128
// bytes each, where there is one. Each is read once, so that the second-level cache is to read no more than is asked
// for, and to evict it first.

// CHECK: gpu.func @attention_0({{.*}}memref<1x{{[0-9]+}}x2x64xbf16, 3>, swizzle = swizzle_128b, l2promo = none{{.*}}engine = true
// CHECK: createpolicy.fractional.L2::evict_first
// CHECK: nvvm.mbarrier.init
// CHECK: nvvm.cp.async.bulk.tensor
// OLDER: gpu.func @attention_0({{.*}}engine = false
// OLDER-NOT: nvvm.mbarrier
"hir.program"() ({
^bb0(%query: memref<256x1x128xbf16>, %key: memref<256x4096x128xbf16>, %value: memref<256x4096x128xbf16>, %out: memref<256x1x128xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<256x1x128xbf16>, memref<256x4096x128xbf16>, memref<256x4096x128xbf16>)
      outs(%out : memref<256x1x128xbf16>) {
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
}) {sym_name = "long", function_type = (memref<256x1x128xbf16>, memref<256x4096x128xbf16>, memref<256x4096x128xbf16>, memref<256x1x128xbf16>) -> ()} : () -> ()

// Rows of less than 128 bytes come by the threads' own copies.

// CHECK: gpu.func @attention_2({{.*}}engine = false
// CHECK-NOT: nvvm.cp.async.bulk.tensor
"hir.program"() ({
^bb0(%query: memref<192x1x32xbf16>, %key: memref<192x8192x32xbf16>, %value: memref<192x8192x32xbf16>, %out: memref<192x1x32xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<192x1x32xbf16>, memref<192x8192x32xbf16>, memref<192x8192x32xbf16>)
      outs(%out : memref<192x1x32xbf16>) {
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
}) {sym_name = "short", function_type = (memref<192x1x32xbf16>, memref<192x8192x32xbf16>, memref<192x8192x32xbf16>, memref<192x1x32xbf16>) -> ()} : () -> ()

// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s

// Seven heads share keys, and each has two rows: a tile has all 14 of these, so that one block of each batch reads
// keys.

// CHECK-LABEL: "hir.launcher"
// CHECK: "hir.launch"(%c2{{(_[0-9]+)?}},
"hir.program"() ({
^bb0(%query: memref<2x7x2x32xbf16>, %key: memref<2x96x32xbf16>, %value: memref<2x96x16xbf16>, %out: memref<2x7x2x16xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(b, g, i, n, j, k) -> (b, g, i, k)>, affine_map<(b, g, i, n, j, k) -> (b, j, k)>,
                     affine_map<(b, g, i, n, j, k) -> (b, j, n)>, affine_map<(b, g, i, n, j, k) -> (b, g, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<2x7x2x32xbf16>, memref<2x96x32xbf16>, memref<2x96x16xbf16>)
      outs(%out : memref<2x7x2x16xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %d: bf16):
    %q = arith.extf %a : bf16 to f32
    %k = arith.extf %b : bf16 to f32
    %v = arith.extf %c : bf16 to f32
    %p = arith.mulf %q, %k : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 5>} : (f32) -> f32
    %m = "hir.reduce_loops"(%s) {kind = "maximumf", loops = array<i64: 4>} : (f32) -> f32
    %l = arith.subf %s, %m : f32
    %e = math.exp %l : f32
    %t = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %w = arith.divf %e, %t : f32
    %n = arith.truncf %w : f32 to bf16
    %x = arith.extf %n : bf16 to f32
    %y = arith.mulf %x, %v : f32
    %r = "hir.reduce_loops"(%y) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %z = arith.truncf %r : f32 to bf16
    linalg.yield %z : bf16
  }
}) {sym_name = "main", function_type = (memref<2x7x2x32xbf16>, memref<2x96x32xbf16>, memref<2x96x16xbf16>, memref<2x7x2x16xbf16>) -> ()} : () -> ()

// With six rows each, 42 in all, a tile's rows are the heads of a row, so that six blocks of each batch read keys, and
// not seven.

// CHECK-LABEL: "hir.launcher"
// CHECK: "hir.launch"(%c12{{(_[0-9]+)?}},
"hir.program"() ({
^bb0(%query: memref<2x7x6x32xbf16>, %key: memref<2x96x32xbf16>, %value: memref<2x96x16xbf16>, %out: memref<2x7x6x16xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(b, g, i, n, j, k) -> (b, g, i, k)>, affine_map<(b, g, i, n, j, k) -> (b, j, k)>,
                     affine_map<(b, g, i, n, j, k) -> (b, j, n)>, affine_map<(b, g, i, n, j, k) -> (b, g, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<2x7x6x32xbf16>, memref<2x96x32xbf16>, memref<2x96x16xbf16>)
      outs(%out : memref<2x7x6x16xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %d: bf16):
    %q = arith.extf %a : bf16 to f32
    %k = arith.extf %b : bf16 to f32
    %v = arith.extf %c : bf16 to f32
    %p = arith.mulf %q, %k : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 5>} : (f32) -> f32
    %m = "hir.reduce_loops"(%s) {kind = "maximumf", loops = array<i64: 4>} : (f32) -> f32
    %l = arith.subf %s, %m : f32
    %e = math.exp %l : f32
    %t = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %w = arith.divf %e, %t : f32
    %n = arith.truncf %w : f32 to bf16
    %x = arith.extf %n : bf16 to f32
    %y = arith.mulf %x, %v : f32
    %r = "hir.reduce_loops"(%y) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %z = arith.truncf %r : f32 to bf16
    linalg.yield %z : bf16
  }
}) {sym_name = "many", function_type = (memref<2x7x6x32xbf16>, memref<2x96x32xbf16>, memref<2x96x16xbf16>, memref<2x7x6x16xbf16>) -> ()} : () -> ()

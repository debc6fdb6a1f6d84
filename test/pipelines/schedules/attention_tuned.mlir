// RUN: hirc-opt %s -p 'hir-list-configurations{chips=sm_90a}' | FileCheck %s --check-prefix=LIST
// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s

// What was found to be best for attention of this class comes before the compiler's choice.

// LIST: hir.class = "p2^1/1 p2^2/1 p2^4/16 c2^12/16 c2^5/16; in bf16 a a 0 0 1; in bf16 a 0 0 a 1; in bf16 a 0 1 a 0; out bf16 a a 1 0 0; hir.reduce_loops addf; hir.reduce_loops addf; hir.reduce_loops addf; hir.reduce_loops maximumf; 2^4"
// LIST-SAME: hir.configurations = [{{[{]}}engine = {{true|false}}, family = "attention"{{.*}}family = "attention"

// CHECK: gpu.func @attention_0({{.*}}key_warps = 2 : i64, keys = 128 : i64, {{.*}}parts = 4 : i64, {{.*}}stages = 3 : i64, {{.*}}warps = 2 : i64}
// CHECK: gpu.func @attention_parts_1(
// CHECK: gpu.func @attention_2({{.*}}key_warps = 4 : i64
module attributes {hir.tuning = {
    "p2^1/1 p2^2/1 p2^4/16 c2^12/16 c2^5/16; in bf16 a a 0 0 1; in bf16 a 0 0 a 1; in bf16 a 0 1 a 0; out bf16 a a 1 0 0; hir.reduce_loops addf; hir.reduce_loops addf; hir.reduce_loops addf; hir.reduce_loops maximumf; 2^4" =
      {family = "attention", engine = false, warps = 2 : i64, row_tiles = 1 : i64, keys = 128 : i64, stages = 3 : i64, keeps_queries = true, parts = 4 : i64, tiles = 1 : i64, turns = false, warpgroups = 0 : i64, key_warps = 2 : i64, layout = "rows"}}} {
  "hir.program"() ({
  ^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
    linalg.generic {
      indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                       affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
    } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
        outs(%out : memref<3x5x16xbf16>) {
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
}

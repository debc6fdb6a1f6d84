// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90a},canonicalize' | FileCheck %s

// Where a row sees keys up to a length that an operand has, blocks read no tile of keys behind it:
// they load it before they begin. A sum of 64 bits is part of the condition.

// CHECK: gpu.func @attention_0(
// CHECK: %[[LENGTH:.+]] = llvm.load {{.*}} -> i64
// CHECK: %[[PLACE:.+]] = arith.index_cast %[[LENGTH]] : i64 to index
// CHECK: arith.minsi
// CHECK: arith.ceildivsi
// CHECK: nvvm.mbarrier.init
"hir.program"() ({
^bb0(%query: memref<2x4x8x64xbf16>, %key: memref<2x4x512x64xbf16>, %value: memref<2x4x512x64xbf16>, %length: memref<2xi64>, %out: memref<2x4x8x64xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(b, h, i, n, j, k) -> (b, h, i, k)>, affine_map<(b, h, i, n, j, k) -> (b, h, j, k)>,
                     affine_map<(b, h, i, n, j, k) -> (b, h, j, n)>, affine_map<(b, h, i, n, j, k) -> (b)>,
                     affine_map<(b, h, i, n, j, k) -> (b, h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value, %length : memref<2x4x8x64xbf16>, memref<2x4x512x64xbf16>, memref<2x4x512x64xbf16>, memref<2xi64>)
      outs(%out : memref<2x4x8x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %l: i64, %d: bf16):
    %least = arith.constant 0xFF800000 : f32
    %q = arith.extf %a : bf16 to f32
    %k = arith.extf %b : bf16 to f32
    %v = arith.extf %c : bf16 to f32
    %p = arith.mulf %q, %k : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 5>} : (f32) -> f32
    %index = linalg.index 4 : index
    %place = arith.index_cast %index : index to i64
    %one = arith.constant 1 : i64
    %end = arith.addi %l, %one : i64
    %seen = arith.cmpi slt, %place, %end : i64
    %x = arith.select %seen, %s, %least : f32
    %m = "hir.reduce_loops"(%x) {kind = "maximumf", loops = array<i64: 4>} : (f32) -> f32
    %less = arith.subf %x, %m : f32
    %e = math.exp %less : f32
    %t = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %w = arith.divf %e, %t : f32
    %narrow = arith.truncf %w : f32 to bf16
    %wide = arith.extf %narrow : bf16 to f32
    %y = arith.mulf %wide, %v : f32
    %r = "hir.reduce_loops"(%y) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %z = arith.truncf %r : f32 to bf16
    linalg.yield %z : bf16
  }
}) {sym_name = "lengths", function_type = (memref<2x4x8x64xbf16>, memref<2x4x512x64xbf16>, memref<2x4x512x64xbf16>, memref<2xi64>, memref<2x4x8x64xbf16>) -> ()} : () -> ()

// One of 32 bits might wrap around; so every tile is read. Lengths of each row are not the block's.

// CHECK: gpu.func @attention_3(
// CHECK-NOT: arith.ceildivsi
// CHECK: nvvm.mbarrier.init
"hir.program"() ({
^bb0(%query: memref<2x4x8x64xbf16>, %key: memref<2x4x512x64xbf16>, %value: memref<2x4x512x64xbf16>, %length: memref<2xi32>, %out: memref<2x4x8x64xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(b, h, i, n, j, k) -> (b, h, i, k)>, affine_map<(b, h, i, n, j, k) -> (b, h, j, k)>,
                     affine_map<(b, h, i, n, j, k) -> (b, h, j, n)>, affine_map<(b, h, i, n, j, k) -> (b)>,
                     affine_map<(b, h, i, n, j, k) -> (b, h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value, %length : memref<2x4x8x64xbf16>, memref<2x4x512x64xbf16>, memref<2x4x512x64xbf16>, memref<2xi32>)
      outs(%out : memref<2x4x8x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %l: i32, %d: bf16):
    %least = arith.constant 0xFF800000 : f32
    %q = arith.extf %a : bf16 to f32
    %k = arith.extf %b : bf16 to f32
    %v = arith.extf %c : bf16 to f32
    %p = arith.mulf %q, %k : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 5>} : (f32) -> f32
    %index = linalg.index 4 : index
    %place = arith.index_cast %index : index to i32
    %one = arith.constant 1 : i32
    %end = arith.addi %l, %one : i32
    %seen = arith.cmpi slt, %place, %end : i32
    %x = arith.select %seen, %s, %least : f32
    %m = "hir.reduce_loops"(%x) {kind = "maximumf", loops = array<i64: 4>} : (f32) -> f32
    %less = arith.subf %x, %m : f32
    %e = math.exp %less : f32
    %t = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %w = arith.divf %e, %t : f32
    %narrow = arith.truncf %w : f32 to bf16
    %wide = arith.extf %narrow : bf16 to f32
    %y = arith.mulf %wide, %v : f32
    %r = "hir.reduce_loops"(%y) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %z = arith.truncf %r : f32 to bf16
    linalg.yield %z : bf16
  }
}) {sym_name = "wraps", function_type = (memref<2x4x8x64xbf16>, memref<2x4x512x64xbf16>, memref<2x4x512x64xbf16>, memref<2xi32>, memref<2x4x8x64xbf16>) -> ()} : () -> ()

// CHECK: gpu.func @attention_5(
// CHECK-NOT: arith.ceildivsi
// CHECK: nvvm.mbarrier.init
"hir.program"() ({
^bb0(%query: memref<2x4x8x64xbf16>, %key: memref<2x4x512x64xbf16>, %value: memref<2x4x512x64xbf16>, %length: memref<8xi64>, %out: memref<2x4x8x64xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(b, h, i, n, j, k) -> (b, h, i, k)>, affine_map<(b, h, i, n, j, k) -> (b, h, j, k)>,
                     affine_map<(b, h, i, n, j, k) -> (b, h, j, n)>, affine_map<(b, h, i, n, j, k) -> (i)>,
                     affine_map<(b, h, i, n, j, k) -> (b, h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value, %length : memref<2x4x8x64xbf16>, memref<2x4x512x64xbf16>, memref<2x4x512x64xbf16>, memref<8xi64>)
      outs(%out : memref<2x4x8x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %l: i64, %d: bf16):
    %least = arith.constant 0xFF800000 : f32
    %q = arith.extf %a : bf16 to f32
    %k = arith.extf %b : bf16 to f32
    %v = arith.extf %c : bf16 to f32
    %p = arith.mulf %q, %k : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 5>} : (f32) -> f32
    %index = linalg.index 4 : index
    %place = arith.index_cast %index : index to i64
    %one = arith.constant 1 : i64
    %end = arith.addi %l, %one : i64
    %seen = arith.cmpi slt, %place, %end : i64
    %x = arith.select %seen, %s, %least : f32
    %m = "hir.reduce_loops"(%x) {kind = "maximumf", loops = array<i64: 4>} : (f32) -> f32
    %less = arith.subf %x, %m : f32
    %e = math.exp %less : f32
    %t = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %w = arith.divf %e, %t : f32
    %narrow = arith.truncf %w : f32 to bf16
    %wide = arith.extf %narrow : bf16 to f32
    %y = arith.mulf %wide, %v : f32
    %r = "hir.reduce_loops"(%y) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    %z = arith.truncf %r : f32 to bf16
    linalg.yield %z : bf16
  }
}) {sym_name = "of_rows", function_type = (memref<2x4x8x64xbf16>, memref<2x4x512x64xbf16>, memref<2x4x512x64xbf16>, memref<8xi64>, memref<2x4x8x64xbf16>) -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'hir-schedule-kernels{chips=sm_90a}'

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: 'key_warps' divides 'warps'}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", key_warps = 3}} {
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

// -----

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: 'keys' is a multiple of 16 for each of 'key_warps'}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", warps = 4, key_warps = 4, keys = 32}} {
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

// -----

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: 'stages' is at least 2}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", stages = 1}} {
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

// -----

"hir.program"() ({
^bb0(%query: memref<3x40x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x40x16xbf16>):
  // expected-error @below {{hir.configuration: keys of at most 32 rows are split into 'parts'}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x40x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x40x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", parts = 2}} {
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
}) {sym_name = "main", function_type = (memref<3x40x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>, memref<3x40x16xbf16>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: a block has 232448 bytes of shared memory, for fewer 'keys'}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", stages = 9, keys = 512}} {
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

// -----

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: 'warpgroups' is 0, or 2 with 8 'warps'}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", warpgroups = 2, warps = 4, keeps_queries = false}} {
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

// -----

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: 'layout' is rows or any}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "packed"}} {
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

// -----

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: with 'engine' all 'warps' are 'key_warps'}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", engine = true, warps = 4, key_warps = 2}} {
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

// -----

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: 'turns', and several 'tiles', are those of 'warpgroups'}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", turns = true, keys = 64}} {
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

// -----

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: with 'engine' a warp has 256 'keys' at most}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "rows", engine = true, warps = 1, key_warps = 1, keys = 512}} {
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

// -----

"hir.program"() ({
^bb0(%query: memref<3x5x32xbf16>, %key: memref<3x4096x32xbf16>, %value: memref<3x4096x16xbf16>, %out: memref<3x5x16xbf16>):
  // expected-error @below {{hir.configuration: 'engine' is false for this chip or these operands}}
  linalg.generic {
    indexing_maps = [affine_map<(h, i, n, j, k) -> (h, i, k)>, affine_map<(h, i, n, j, k) -> (h, j, k)>,
                     affine_map<(h, i, n, j, k) -> (h, j, n)>, affine_map<(h, i, n, j, k) -> (h, i, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%query, %key, %value : memref<3x5x32xbf16>, memref<3x4096x32xbf16>, memref<3x4096x16xbf16>)
      outs(%out : memref<3x5x16xbf16>)
      attrs = {hir.configuration = {family = "attention", layout = "any", engine = true}} {
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

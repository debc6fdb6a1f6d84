// RUN: hirc-opt %s -p pad-product-rows --split-input-file | FileCheck %s

#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (n, k)>
#t = affine_map<(m, n, k) -> (k, n)>
#r = affine_map<(m, n, k) -> (m, n)>

// A result whose rows begin at any element is written to rows of whole 16 bytes, and copied for those
// outside.

// CHECK-LABEL: func.func @result(
// CHECK-SAME:    %[[X:.*]]: tensor<8192x768xbf16>, %[[W:.*]]: tensor<50257x768xbf16>)
// CHECK:         %[[WHOLE:.*]] = tensor.empty() : tensor<8192x50264xbf16>
// CHECK:         %[[ROWS:.*]] = tensor.extract_slice %[[WHOLE]][0, 0] [8192, 50257] [1, 1]
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] : {{.*}}) outs(%[[ROWS]] :
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<8192x50257xbf16>
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[Y]] : {{.*}}) outs(%[[E]] :
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: bf16, %{{.*}}: bf16):
// CHECK-NEXT:      linalg.yield %[[IN]]
// CHECK:         return %[[R]]
func.func @result(%x: tensor<8192x768xbf16>, %w: tensor<50257x768xbf16>) -> tensor<8192x50257xbf16> {
  %e = tensor.empty() : tensor<8192x50257xbf16>
  %y = linalg.generic {indexing_maps = [#m, #n, #r], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<8192x768xbf16>, tensor<50257x768xbf16>) outs(%e : tensor<8192x50257xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %a1 = arith.extf %a : bf16 to f32
    %b1 = arith.extf %b : bf16 to f32
    %p = arith.mulf %a1, %b1 : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %v = arith.truncf %s : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<8192x50257xbf16>
  return %y : tensor<8192x50257xbf16>
}

// -----

// An operation that reads the result reads padded rows; one that gives an operand writes them. Nothing
// is copied but what the caller gives. The number of rows may be open.

#m = affine_map<(m, n, k) -> (m, k)>
#t = affine_map<(m, n, k) -> (k, n)>
#r = affine_map<(m, n, k) -> (m, n)>
#i = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func @between(
// CHECK:         %[[WHOLE:.*]] = tensor.empty(%[[ROWS:.*]]) : tensor<?x1008xf16>
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[WHOLE]][0, 0] [%[[ROWS]], 1001] [1, 1]
// CHECK:         %[[X:.*]] = linalg.generic {{.*}} outs(%[[PART]] :
// CHECK:         tensor.extract_slice %{{.*}}[0, 0] [1001, 2049] [1, 1] : tensor<1001x2056xf16> to
// CHECK:         %[[W:.*]] = linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      linalg.yield
// CHECK:         %[[WHOLE2:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x2052xf32>
// CHECK:         %[[PART2:.*]] = tensor.extract_slice %[[WHOLE2]][0, 0] [%[[ROWS]], 2049] [1, 1]
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] : {{.*}}) outs(%[[PART2]] :
// CHECK:         %[[Z:.*]] = linalg.generic {{.*}} ins(%[[Y]] : {{.*}}) outs(%{{.*}} :
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[Z]]
func.func @between(%g: tensor<?x1001xf16>, %w: tensor<1001x2049xf16>, %rows: index) -> tensor<?x2049xf32> {
  %e = tensor.empty(%rows) : tensor<?x1001xf16>
  %x = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}
    ins(%g : tensor<?x1001xf16>) outs(%e : tensor<?x1001xf16>) {
  ^bb0(%a: f16, %o: f16):
    %v = arith.negf %a : f16
    linalg.yield %v : f16
  } -> tensor<?x1001xf16>
  %f = tensor.empty(%rows) : tensor<?x2049xf32>
  %y = linalg.generic {indexing_maps = [#m, #t, #r], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<?x1001xf16>, tensor<1001x2049xf16>) outs(%f : tensor<?x2049xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %p = arith.mulf %a1, %b1 : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<?x2049xf32>
  %z = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<?x2049xf32>) outs(%f : tensor<?x2049xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<?x2049xf32>
  return %z : tensor<?x2049xf32>
}

// -----

// An operand that the caller gives is copied, once where it is both.

#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (n, k)>
#r = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @squared(
// CHECK-SAME:    %[[X:.*]]: tensor<4096x4095xbf16>)
// CHECK:         tensor.extract_slice %{{.*}}[0, 0] [4096, 4095] [1, 1] : tensor<4096x4096xbf16> to
// CHECK:         %[[C:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[C]], %[[C]] :
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[Y]]
func.func @squared(%x: tensor<4096x4095xbf16>) -> tensor<4096x4096xbf16> {
  %e = tensor.empty() : tensor<4096x4096xbf16>
  %y = linalg.generic {indexing_maps = [#m, #n, #r], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %x : tensor<4096x4095xbf16>, tensor<4096x4095xbf16>) outs(%e : tensor<4096x4096xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %a1 = arith.extf %a : bf16 to f32
    %b1 = arith.extf %b : bf16 to f32
    %p = arith.mulf %a1, %b1 : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %v = arith.truncf %s : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<4096x4096xbf16>
  return %y : tensor<4096x4096xbf16>
}

// -----

// Left as they are: rows of whole 16 bytes; rows of an open size; few multiplications for what would be
// copied; few rows, which memory bounds; a row of several dims; f32.

#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (n, k)>
#r = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @whole(
// CHECK-NOT:     tensor.extract_slice
// CHECK-LABEL: func.func @open(
// CHECK-NOT:     tensor.extract_slice
// CHECK-LABEL: func.func @few_terms(
// CHECK-NOT:     tensor.extract_slice
// CHECK-LABEL: func.func @few_rows(
// CHECK-NOT:     tensor.extract_slice
// CHECK-LABEL: func.func @two_dims(
// CHECK-NOT:     tensor.extract_slice
// CHECK-LABEL: func.func @wide(
// CHECK-NOT:     tensor.extract_slice
func.func @whole(%x: tensor<8192x768xbf16>, %w: tensor<50256x768xbf16>) -> tensor<8192x50256xbf16> {
  %e = tensor.empty() : tensor<8192x50256xbf16>
  %y = linalg.generic {indexing_maps = [#m, #n, #r], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<8192x768xbf16>, tensor<50256x768xbf16>) outs(%e : tensor<8192x50256xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %a1 = arith.extf %a : bf16 to f32
    %b1 = arith.extf %b : bf16 to f32
    %p = arith.mulf %a1, %b1 : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %v = arith.truncf %s : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<8192x50256xbf16>
  return %y : tensor<8192x50256xbf16>
}
func.func @open(%x: tensor<8192x768xbf16>, %w: tensor<?x768xbf16>, %n: index) -> tensor<8192x?xbf16> {
  %e = tensor.empty(%n) : tensor<8192x?xbf16>
  %y = linalg.generic {indexing_maps = [#m, #n, #r], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<8192x768xbf16>, tensor<?x768xbf16>) outs(%e : tensor<8192x?xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %a1 = arith.extf %a : bf16 to f32
    %b1 = arith.extf %b : bf16 to f32
    %p = arith.mulf %a1, %b1 : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %v = arith.truncf %s : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<8192x?xbf16>
  return %y : tensor<8192x?xbf16>
}
func.func @few_terms(%x: tensor<8192x32xbf16>, %w: tensor<50257x32xbf16>) -> tensor<8192x50257xbf16> {
  %e = tensor.empty() : tensor<8192x50257xbf16>
  %y = linalg.generic {indexing_maps = [#m, #n, #r], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<8192x32xbf16>, tensor<50257x32xbf16>) outs(%e : tensor<8192x50257xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %a1 = arith.extf %a : bf16 to f32
    %b1 = arith.extf %b : bf16 to f32
    %p = arith.mulf %a1, %b1 : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %v = arith.truncf %s : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<8192x50257xbf16>
  return %y : tensor<8192x50257xbf16>
}
func.func @few_rows(%x: tensor<8x768xbf16>, %w: tensor<50257x768xbf16>) -> tensor<8x50257xbf16> {
  %e = tensor.empty() : tensor<8x50257xbf16>
  %y = linalg.generic {indexing_maps = [#m, #n, #r], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<8x768xbf16>, tensor<50257x768xbf16>) outs(%e : tensor<8x50257xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %a1 = arith.extf %a : bf16 to f32
    %b1 = arith.extf %b : bf16 to f32
    %p = arith.mulf %a1, %b1 : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %v = arith.truncf %s : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<8x50257xbf16>
  return %y : tensor<8x50257xbf16>
}
func.func @two_dims(%x: tensor<8192x768xbf16>, %w: tensor<29x1733x768xbf16>) -> tensor<8192x29x1733xbf16> {
  %e = tensor.empty() : tensor<8192x29x1733xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, l, k) -> (m, k)>, affine_map<(m, n, l, k) -> (n, l, k)>, affine_map<(m, n, l, k) -> (m, n, l)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<8192x768xbf16>, tensor<29x1733x768xbf16>) outs(%e : tensor<8192x29x1733xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %a1 = arith.extf %a : bf16 to f32
    %b1 = arith.extf %b : bf16 to f32
    %p = arith.mulf %a1, %b1 : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 3>} : (f32) -> f32
    %v = arith.truncf %s : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<8192x29x1733xbf16>
  return %y : tensor<8192x29x1733xbf16>
}
func.func @wide(%x: tensor<8192x768xf32>, %w: tensor<50257x768xf32>) -> tensor<8192x50257xf32> {
  %e = tensor.empty() : tensor<8192x50257xf32>
  %y = linalg.generic {indexing_maps = [#m, #n, #r], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<8192x768xf32>, tensor<50257x768xf32>) outs(%e : tensor<8192x50257xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<8192x50257xf32>
  return %y : tensor<8192x50257xf32>
}

// RUN: hirc-opt %s --split-input-file -p lay-out-weights,pad-product-sizes,func.func'(cse)' | FileCheck %s

// Behind a weight there is room for more rows: the product reads it as it lies, whatever else does
// reads its part of it, and so do those who read the result. Nothing is copied.

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#same = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @weight(
// CHECK-SAME:    %[[X:.*]]: tensor<?x768xbf16>, %[[W:.*]]: tensor<50264x768xbf16> {hirc.weight = "w"}, %[[I:.*]]: tensor<50257x768xbf16>)
// CHECK:         %[[OLD:.*]] = tensor.extract_slice %[[W]][0, 0] [50257, 768] [1, 1]
// CHECK:         %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x50264xbf16>
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<?x768xbf16>, tensor<50264x768xbf16>) outs(%[[E]] : tensor<?x50264xbf16>)
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[P]][0, 0] [%{{.*}}, 50257] [1, 1]
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.exp ins(%[[S]] :
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.add ins(%[[OLD]],
// CHECK:         return
func.func @weight(%x: tensor<?x768xbf16>, %w: tensor<50257x768xbf16> {hirc.weight = "w"}, %i: tensor<50257x768xbf16>) -> (tensor<?x50257xbf16>, tensor<50257x768xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x768xbf16>
  %e = tensor.empty(%m) : tensor<?x50257xbf16>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x768xbf16>, tensor<50257x768xbf16>) outs(%e : tensor<?x50257xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %p = arith.mulf %c, %d : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x50257xbf16>
  %r = linalg.exp ins(%y : tensor<?x50257xbf16>) outs(%e : tensor<?x50257xbf16>) -> tensor<?x50257xbf16>
  %f = tensor.empty() : tensor<50257x768xbf16>
  %z = linalg.add ins(%w, %i : tensor<50257x768xbf16>, tensor<50257x768xbf16>) outs(%f : tensor<50257x768xbf16>) -> tensor<50257x768xbf16>
  return %r, %z : tensor<?x50257xbf16>, tensor<50257x768xbf16>
}

// -----

// An operand that the caller gives is copied, a bias along it too, and a result that is returned.

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#b = affine_map<(m, n, k) -> (n)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @given(
// CHECK-SAME:    %[[X:.*]]: tensor<8192x768xf16>, %[[W:.*]]: tensor<50257x768xf16>, %[[B:.*]]: tensor<50257xf16>)
// CHECK-DAG:     %[[WP:.*]] = tensor.pad %[[W]] low[0, 0] high[7, 0]
// CHECK-DAG:     %[[BP:.*]] = tensor.pad %[[B]] low[0] high[7]
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[WP]], %[[BP]] : {{.*}}) outs(%{{.*}} : tensor<8192x50264xf16>)
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[P]][0, 0] [8192, 50257] [1, 1]
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<8192x50257xf16>)
// CHECK:         return %[[R]]
func.func @given(%x: tensor<8192x768xf16>, %w: tensor<50257x768xf16>, %b: tensor<50257xf16>) -> tensor<8192x50257xf16> {
  %e = tensor.empty() : tensor<8192x50257xf16>
  %y = linalg.generic {indexing_maps = [#x, #w, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %b : tensor<8192x768xf16>, tensor<50257x768xf16>, tensor<50257xf16>) outs(%e : tensor<8192x50257xf16>) {
  ^bb0(%a: f16, %b0: f16, %b1: f16, %o: f16):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b0 : f16 to f32
    %p = arith.mulf %c, %d : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %v = arith.extf %b1 : f16 to f32
    %u = arith.addf %s, %v : f32
    %t = arith.truncf %u : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8192x50257xf16>
  return %y : tensor<8192x50257xf16>
}

// -----

// What is summed is padded with zeros, of weights too.

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @summed(
// CHECK-SAME:    %[[X:.*]]: tensor<4096x4095xbf16>, %[[W:.*]]: tensor<4096x4095xbf16> {hirc.weight = "w"})
// CHECK:         %[[XP:.*]] = tensor.pad %[[X]] low[0, 0] high[0, 1]
// CHECK:           tensor.yield %{{.*}} : bf16
// CHECK:         %[[WP:.*]] = tensor.pad %[[W]] low[0, 0] high[0, 1]
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[XP]], %[[WP]] : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
// CHECK:         return %[[R]]
func.func @summed(%x: tensor<4096x4095xbf16>, %w: tensor<4096x4095xbf16> {hirc.weight = "w"}) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4096x4095xbf16>, tensor<4096x4095xbf16>) outs(%e : tensor<4096x4096xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %p = arith.mulf %c, %d : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<4096x4096xf32>
  return %y : tensor<4096x4096xf32>
}

// -----

// Near misses: f32; multiples; rows of open size; few multiplications, for which copies take longer;
// and a weight that another function hands over.

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @wide(
// CHECK-NOT:     tensor.pad
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @wide(%x: tensor<8192x768xf32>, %w: tensor<50257x768xf32>) -> tensor<8192x50257xf32> {
  %e = tensor.empty() : tensor<8192x50257xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8192x768xf32>, tensor<50257x768xf32>) outs(%e : tensor<8192x50257xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<8192x50257xf32>
  return %y : tensor<8192x50257xf32>
}

// CHECK-LABEL: func.func @multiples(
// CHECK-NOT:     tensor.pad
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @multiples(%x: tensor<8191x768xf16>, %w: tensor<50264x768xf16>) -> tensor<8191x50264xf32> {
  %e = tensor.empty() : tensor<8191x50264xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8191x768xf16>, tensor<50264x768xf16>) outs(%e : tensor<8191x50264xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<8191x50264xf32>
  return %y : tensor<8191x50264xf32>
}

// CHECK-LABEL: func.func @open(
// CHECK-NOT:     tensor.pad
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @open(%x: tensor<8192x768xf16>, %w: tensor<?x768xf16>, %n: index) -> tensor<8192x?xf32> {
  %e = tensor.empty(%n) : tensor<8192x?xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8192x768xf16>, tensor<?x768xf16>) outs(%e : tensor<8192x?xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<8192x?xf32>
  return %y : tensor<8192x?xf32>
}

// CHECK-LABEL: func.func @few(
// CHECK-NOT:     tensor.pad
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @few(%x: tensor<256x512xf16>, %w: tensor<101x512xf16>) -> tensor<256x101xf16> {
  %e = tensor.empty() : tensor<256x101xf16>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<256x512xf16>, tensor<101x512xf16>) outs(%e : tensor<256x101xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<256x101xf16>
  return %y : tensor<256x101xf16>
}

// CHECK-LABEL: func.func @handed_over(
// CHECK-SAME:    tensor<50257x768xf16> {hirc.weight = "h"})
// CHECK:         tensor.pad
// CHECK:         return
func.func @handed_over(%x: tensor<8192x768xf16>, %w: tensor<50257x768xf16> {hirc.weight = "h"}) -> tensor<8192x50257xf16> {
  %e = tensor.empty() : tensor<8192x50257xf16>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8192x768xf16>, tensor<50257x768xf16>) outs(%e : tensor<8192x50257xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8192x50257xf16>
  return %y : tensor<8192x50257xf16>
}
func.func @caller(%x: tensor<8192x768xf16>, %w: tensor<50257x768xf16>) -> tensor<8192x50257xf16> {
  %y = call @handed_over(%x, %w) : (tensor<8192x768xf16>, tensor<50257x768xf16>) -> tensor<8192x50257xf16>
  return %y : tensor<8192x50257xf16>
}

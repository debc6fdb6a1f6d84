// RUN: hirc-opt %s --split-input-file -p 'fuse-into-products{chips=sm_90a},form-contractions{chips=sm_90a}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'fuse-into-products,form-contractions{chips=sm_90a}' | FileCheck %s --check-prefix=LIBRARY
// RUN: hirc-opt %s --split-input-file -p 'fuse-into-products{chips=sm_90a allow_tf32=true},form-contractions{chips=sm_90a allow_tf32=true}' | FileCheck %s --check-prefix=TF32

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// The library's call would be followed by a pass over the product.

// CHECK-LABEL: func.func @squares(
// CHECK:         linalg.generic {{.*}} hir.statistics, hir.tiles
// CHECK-NOT:     linalg.generic
// LIBRARY-LABEL: func.func @squares(
// LIBRARY-NOT:     hir.statistics
func.func @squares(%x: tensor<4096x1024xbf16>, %w: tensor<2048x1024xbf16>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%x, %w : tensor<4096x1024xbf16>, tensor<2048x1024xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%y : tensor<4096x2048xf32>) outs(%o : tensor<4096xf32>) {
  ^bb0(%a: f32, %old: f32):
    %q = arith.mulf %a, %a : f32
    %t = "hir.reduce_loops"(%q) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %t : f32
  } -> tensor<4096xf32>
  return %s : tensor<4096xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#v = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>

// f32 that may be rounded, but not where a factor's terms lie apart, and not exact.

// CHECK-LABEL:   func.func @rounded(
// CHECK-NOT:       hir.statistics
// TF32-LABEL:    func.func @rounded(
// TF32:            linalg.generic {{.*}} hir.statistics, hir.tf32, hir.tiles
func.func @rounded(%x: tensor<4096x1024xf32>, %w: tensor<2048x1024xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%x, %w : tensor<4096x1024xf32>, tensor<2048x1024xf32>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%y : tensor<4096x2048xf32>) outs(%o : tensor<4096xf32>) {
  ^bb0(%a: f32, %old: f32):
    %t = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %t : f32
  } -> tensor<4096xf32>
  return %s : tensor<4096xf32>
}

// TF32-LABEL:    func.func @terms_apart(
// TF32-NOT:        hir.statistics
func.func @terms_apart(%x: tensor<4096x1024xf32>, %w: tensor<1024x2048xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul indexing_maps = [#x, #v, #y]
    ins(%x, %w : tensor<4096x1024xf32>, tensor<1024x2048xf32>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%y : tensor<4096x2048xf32>) outs(%o : tensor<4096xf32>) {
  ^bb0(%a: f32, %old: f32):
    %t = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %t : f32
  } -> tensor<4096xf32>
  return %s : tensor<4096xf32>
}

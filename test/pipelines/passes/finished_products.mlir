// RUN: hirc-opt %s --split-input-file -p 'fuse-into-products{chips=sm_90a},form-contractions' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'fuse-into-products,form-contractions' | FileCheck %s --check-prefix=LIBRARY
// RUN: hirc-opt %s --split-input-file -p 'fuse-into-products{chips=sm_80},form-contractions' | FileCheck %s --check-prefix=LIBRARY

#all = affine_map<(i, j) -> (i, j)>

// What the library lacks is computed with the sums, by warpgroups; otherwise in a pass after them.

// CHECK-LABEL: func.func @silu(
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:           "hir.reduce_loops"
// CHECK:           math.exp
// CHECK-NOT:     linalg.generic
// LIBRARY-LABEL: func.func @silu(
// LIBRARY:         linalg.generic
// LIBRARY:         linalg.generic
// LIBRARY:           math.exp
func.func @silu(%x: tensor<4096x512xbf16>, %w: tensor<512x2048xbf16>) -> tensor<4096x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096x2048xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<4096x2048xf32>) outs(%o : tensor<4096x2048xbf16>) {
  ^bb0(%s: f32, %old: bf16):
    %m = arith.negf %s : f32
    %p = math.exp %m : f32
    %q = arith.addf %p, %one : f32
    %d = arith.divf %s, %q : f32
    %t = arith.truncf %d : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x2048xbf16>
  return %r : tensor<4096x2048xbf16>
}

// -----

#all = affine_map<(i, j) -> (i, j)>

// The library's own: a bias and relu. And few tiles, rows that the copy engine does not take, and a
// result that is read twice.

// CHECK-LABEL: func.func @relu(
// CHECK-NOT:     hir.finished_product
// CHECK:         linalg.generic
// CHECK:           arith.maximumf
func.func @relu(%x: tensor<4096x512xbf16>, %w: tensor<512x2048xbf16>) -> tensor<4096x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096x2048xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<4096x2048xf32>) outs(%o : tensor<4096x2048xbf16>) {
  ^bb0(%s: f32, %old: bf16):
    %p = arith.maximumf %s, %zero : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x2048xbf16>
  return %r : tensor<4096x2048xbf16>
}

// CHECK-LABEL: func.func @few_tiles(
// CHECK-COUNT-2: linalg.generic
func.func @few_tiles(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.matmul ins(%x, %w : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = tensor.empty() : tensor<512x512xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<512x512xf32>) outs(%o : tensor<512x512xbf16>) {
  ^bb0(%s: f32, %old: bf16):
    %p = math.absf %s : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<512x512xbf16>
  return %r : tensor<512x512xbf16>
}

// CHECK-LABEL: func.func @odd_rows(
// CHECK-COUNT-2: linalg.generic
func.func @odd_rows(%x: tensor<4096x500xbf16>, %w: tensor<500x2048xbf16>) -> tensor<4096x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x500xbf16>, tensor<500x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096x2048xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<4096x2048xf32>) outs(%o : tensor<4096x2048xbf16>) {
  ^bb0(%s: f32, %old: bf16):
    %p = math.absf %s : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x2048xbf16>
  return %r : tensor<4096x2048xbf16>
}

// CHECK-LABEL: func.func @read_twice(
// CHECK-COUNT-2: linalg.generic
func.func @read_twice(%x: tensor<4096x512xbf16>, %w: tensor<512x2048xbf16>) -> (tensor<4096x2048xbf16>, tensor<4096x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096x2048xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<4096x2048xf32>) outs(%o : tensor<4096x2048xbf16>) {
  ^bb0(%s: f32, %old: bf16):
    %p = math.absf %s : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x2048xbf16>
  return %r, %y : tensor<4096x2048xbf16>, tensor<4096x2048xf32>
}

// What has an element for each of the result, the library adds.

// CHECK-LABEL: func.func @residual(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} :
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @residual(%x: tensor<4096x512xbf16>, %w: tensor<512x2048xbf16>, %z: tensor<4096x2048xbf16>) -> tensor<4096x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096x2048xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y, %z : tensor<4096x2048xf32>, tensor<4096x2048xbf16>) outs(%o : tensor<4096x2048xbf16>) {
  ^bb0(%s: f32, %u: bf16, %old: bf16):
    %v = arith.extf %u : bf16 to f32
    %p = arith.addf %s, %v : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x2048xbf16>
  return %r : tensor<4096x2048xbf16>
}

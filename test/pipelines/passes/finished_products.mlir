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

// What has an element for each of the result the library could add; the kernel does in less time.

// CHECK-LABEL: func.func @residual(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}hir.tiles}
// CHECK-NOT:     linalg.generic
// CHECK:         return
// LIBRARY-LABEL: func.func @residual(
// LIBRARY:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} :
// LIBRARY-NOT:     hir.tiles
// LIBRARY:         return
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

// The library is called where tiles fill the chip badly and sums are long: 320 of them take as long as
// 396. And where what is read lies by columns, or has bytes for elements, which is a pass.

// CHECK-LABEL: func.func @residual_of_uneven_tiles(
// CHECK-NOT:     hir.tiles
// CHECK:         return
func.func @residual_of_uneven_tiles(%x: tensor<2048x5120xbf16>, %w: tensor<5120x2560xbf16>, %z: tensor<2048x2560xbf16>) -> tensor<2048x2560xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2560xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2560xf32>) -> tensor<2048x2560xf32>
  %y = linalg.matmul ins(%x, %w : tensor<2048x5120xbf16>, tensor<5120x2560xbf16>) outs(%f : tensor<2048x2560xf32>) -> tensor<2048x2560xf32>
  %o = tensor.empty() : tensor<2048x2560xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y, %z : tensor<2048x2560xf32>, tensor<2048x2560xbf16>) outs(%o : tensor<2048x2560xbf16>) {
  ^bb0(%s: f32, %u: bf16, %old: bf16):
    %v = arith.extf %u : bf16 to f32
    %p = arith.addf %s, %v : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<2048x2560xbf16>
  return %r : tensor<2048x2560xbf16>
}

// CHECK-LABEL: func.func @by_columns(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     hir.tiles
// CHECK:         return
func.func @by_columns(%x: tensor<4096x512xbf16>, %w: tensor<512x2048xbf16>, %z: tensor<2048x4096xbf16>) -> tensor<4096x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096x2048xbf16>
  %r = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (j, i)>, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y, %z : tensor<4096x2048xf32>, tensor<2048x4096xbf16>) outs(%o : tensor<4096x2048xbf16>) {
  ^bb0(%s: f32, %u: bf16, %old: bf16):
    %v = arith.extf %u : bf16 to f32
    %p = arith.mulf %s, %v : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x2048xbf16>
  return %r : tensor<4096x2048xbf16>
}

// CHECK-LABEL: func.func @of_bytes(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     hir.tiles
// CHECK:         return
func.func @of_bytes(%x: tensor<4096x512xbf16>, %w: tensor<512x2048xbf16>, %z: tensor<4096x2048xi8>) -> tensor<4096x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096x2048xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y, %z : tensor<4096x2048xf32>, tensor<4096x2048xi8>) outs(%o : tensor<4096x2048xbf16>) {
  ^bb0(%s: f32, %u: i8, %old: bf16):
    %v = arith.sitofp %u : i8 to f32
    %p = arith.mulf %s, %v : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x2048xbf16>
  return %r : tensor<4096x2048xbf16>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#three = affine_map<(b, i, j) -> (b, i, j)>

// The rows of several sequences: what follows in three dims is computed in two, with the rounding
// before it. Of two products that one operation reads it goes to one, a gate's.

// CHECK-LABEL: func.func @sequences(
// CHECK:         tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<4x1024x2048xbf16> into
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}hir.tiles}
// CHECK-NOT:     linalg.generic
// CHECK:         tensor.expand_shape
// CHECK-NEXT:    return
// LIBRARY-LABEL: func.func @sequences(
// LIBRARY:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} :
// LIBRARY-NOT:     hir.tiles
// LIBRARY-NOT:     linalg.generic
// LIBRARY:         return
func.func @sequences(%x: tensor<4096x512xbf16>, %w: tensor<512x2048xbf16>, %z: tensor<4x1024x2048xbf16>) -> tensor<4x1024x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %n = tensor.empty() : tensor<4096x2048xbf16>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<4096x2048xf32>) outs(%n : tensor<4096x2048xbf16>) {
  ^bb0(%s: f32, %old: bf16):
    %v = arith.truncf %s : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<4096x2048xbf16>
  %h = tensor.expand_shape %t [[0, 1], [2]] output_shape [4, 1024, 2048] : tensor<4096x2048xbf16> into tensor<4x1024x2048xbf16>
  %o = tensor.empty() : tensor<4x1024x2048xbf16>
  %r = linalg.generic {indexing_maps = [#three, #three, #three], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%z, %h : tensor<4x1024x2048xbf16>, tensor<4x1024x2048xbf16>) outs(%o : tensor<4x1024x2048xbf16>) {
  ^bb0(%u: bf16, %s: bf16, %old: bf16):
    %a = arith.extf %u : bf16 to f32
    %b = arith.extf %s : bf16 to f32
    %p = arith.addf %a, %b : f32
    %v = arith.truncf %p : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<4x1024x2048xbf16>
  return %r : tensor<4x1024x2048xbf16>
}

// What the kernel would not take stays in its dims: one that is read by rows of a sequence.

// CHECK-LABEL: func.func @by_sequences(
// CHECK-NOT:     hir.tiles
// CHECK:         tensor.expand_shape
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
func.func @by_sequences(%x: tensor<4096x512xbf16>, %w: tensor<512x2048xbf16>, %z: tensor<1024x2048xbf16>) -> tensor<4x1024x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %h = tensor.expand_shape %y [[0, 1], [2]] output_shape [4, 1024, 2048] : tensor<4096x2048xf32> into tensor<4x1024x2048xf32>
  %o = tensor.empty() : tensor<4x1024x2048xbf16>
  %r = linalg.generic {indexing_maps = [#three, affine_map<(b, i, j) -> (i, j)>, #three], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%h, %z : tensor<4x1024x2048xf32>, tensor<1024x2048xbf16>) outs(%o : tensor<4x1024x2048xbf16>) {
  ^bb0(%s: f32, %u: bf16, %old: bf16):
    %a = arith.extf %u : bf16 to f32
    %p = arith.addf %a, %s : f32
    %v = arith.truncf %p : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<4x1024x2048xbf16>
  return %r : tensor<4x1024x2048xbf16>
}

// CHECK-LABEL: func.func @gated(
// CHECK:         linalg.generic
// CHECK:         linalg.generic {{.*}}hir.tiles}
// CHECK:           math.exp
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @gated(%x: tensor<4096x512xbf16>, %w: tensor<512x2048xbf16>, %v: tensor<512x2048xbf16>) -> tensor<4096x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4096x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %g = linalg.matmul ins(%x, %w : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%x, %v : tensor<4096x512xbf16>, tensor<512x2048xbf16>) outs(%f : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %o = tensor.empty() : tensor<4096x2048xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%g, %y : tensor<4096x2048xf32>, tensor<4096x2048xf32>) outs(%o : tensor<4096x2048xbf16>) {
  ^bb0(%s: f32, %u: f32, %old: bf16):
    %m = arith.negf %s : f32
    %p = math.exp %m : f32
    %q = arith.addf %p, %one : f32
    %d = arith.divf %s, %q : f32
    %c = arith.mulf %d, %u : f32
    %t = arith.truncf %c : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x2048xbf16>
  return %r : tensor<4096x2048xbf16>
}

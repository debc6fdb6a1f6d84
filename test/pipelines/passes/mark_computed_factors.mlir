// RUN: hirc-opt %s --split-input-file -p 'mark-computed-factors{chips=sm_90a},fuse-into-products{chips=sm_90a},form-contractions,func.func(canonicalize,cse)' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'mark-computed-factors{chips=sm_75},fuse-into-products{chips=sm_75},form-contractions,func.func(canonicalize,cse)' | FileCheck %s --check-prefix=BEFORE

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Weights of 8 bits with a scale for each row are read where they are multiplied, and so is what
// reads the result; rounded as they were in memory.

// CHECK-LABEL: func.func @scaled(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x1024xbf16>, tensor<2048x1024xi8>, tensor<2048xbf16>)
// CHECK-SAME:      hir.tiles
// CHECK:           arith.sitofp
// CHECK:           %[[W:.*]] = arith.truncf
// CHECK:           arith.extf %[[W]]
// CHECK:           "hir.reduce_loops"
// CHECK:           arith.negf
// CHECK-NOT:     linalg.generic
// BEFORE-LABEL: func.func @scaled(
// BEFORE:         linalg.generic
// BEFORE:           arith.sitofp
// BEFORE:         linalg.generic
func.func @scaled(%x: tensor<64x1024xbf16>, %w: tensor<2048x1024xi8>, %s: tensor<2048xbf16>) -> tensor<64x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<2048x1024xbf16>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
    ins(%w, %s : tensor<2048x1024xi8>, tensor<2048xbf16>) outs(%f : tensor<2048x1024xbf16>) {
  ^bb0(%a: i8, %b: bf16, %o: bf16):
    %c = arith.sitofp %a : i8 to bf16
    %e = arith.mulf %c, %b : bf16
    linalg.yield %e : bf16
  } -> tensor<2048x1024xbf16>
  %t = tensor.empty() : tensor<64x2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%t : tensor<64x2048xf32>) -> tensor<64x2048xf32>
  %y = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %d : tensor<64x1024xbf16>, tensor<2048x1024xbf16>) outs(%z : tensor<64x2048xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    %e = arith.extf %b : bf16 to f32
    %g = arith.mulf %c, %e : f32
    %h = arith.addf %o, %g : f32
    linalg.yield %h : f32
  } -> tensor<64x2048xf32>
  %u = tensor.empty() : tensor<64x2048xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<64x2048xf32>) outs(%u : tensor<64x2048xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %c = arith.negf %a : f32
    %e = arith.truncf %c : f32 to bf16
    linalg.yield %e : bf16
  } -> tensor<64x2048xbf16>
  return %r : tensor<64x2048xbf16>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#three = affine_map<(i, g, j) -> (i, g, j)>
#group = affine_map<(i, g, j) -> (i, g)>

// A scale for each 128 terms splits the loop of terms. Nibbles of a byte are two terms side by side,
// of which the loop's index says which one it is.

// CHECK-LABEL: func.func @grouped(
// CHECK:         tensor.expand_shape %arg0 {{.*}} output_shape [64, 8, 64, 2]
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK-SAME:      tensor<64x8x64x2xbf16>, tensor<2048x8x64xi8>, tensor<2048x8xbf16>
// CHECK:           linalg.index 4
// CHECK:           arith.select
// CHECK:           "hir.reduce_loops"{{.*}}loops = array<i64: 2, 3, 4>
// CHECK-NOT:     linalg.generic
func.func @grouped(%x: tensor<64x1024xbf16>, %w: tensor<2048x512xi8>, %s: tensor<2048x8xbf16>) -> tensor<64x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4 : i8
  %mask = arith.constant 15 : i8
  %f = tensor.empty() : tensor<2048x512xi8>
  %n:2 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<2048x512xi8>) outs(%f, %f : tensor<2048x512xi8>, tensor<2048x512xi8>) {
  ^bb0(%a: i8, %o: i8, %p: i8):
    %c = arith.andi %a, %mask : i8
    %e = arith.shrui %a, %four : i8
    linalg.yield %c, %e : i8, i8
  } -> (tensor<2048x512xi8>, tensor<2048x512xi8>)
  %a0 = tensor.expand_shape %n#0 [[0], [1, 2]] output_shape [2048, 512, 1] : tensor<2048x512xi8> into tensor<2048x512x1xi8>
  %a1 = tensor.expand_shape %n#1 [[0], [1, 2]] output_shape [2048, 512, 1] : tensor<2048x512xi8> into tensor<2048x512x1xi8>
  %both = tensor.concat dim(2) %a0, %a1 : (tensor<2048x512x1xi8>, tensor<2048x512x1xi8>) -> tensor<2048x512x2xi8>
  %flat = tensor.collapse_shape %both [[0], [1, 2]] : tensor<2048x512x2xi8> into tensor<2048x1024xi8>
  %q = tensor.expand_shape %flat [[0], [1, 2]] output_shape [2048, 8, 128] : tensor<2048x1024xi8> into tensor<2048x8x128xi8>
  %g = tensor.empty() : tensor<2048x8x128xbf16>
  %d = linalg.generic {indexing_maps = [#three, #group, #three], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%q, %s : tensor<2048x8x128xi8>, tensor<2048x8xbf16>) outs(%g : tensor<2048x8x128xbf16>) {
  ^bb0(%a: i8, %b: bf16, %o: bf16):
    %c = arith.uitofp %a : i8 to bf16
    %e = arith.mulf %c, %b : bf16
    linalg.yield %e : bf16
  } -> tensor<2048x8x128xbf16>
  %k = tensor.collapse_shape %d [[0], [1, 2]] : tensor<2048x8x128xbf16> into tensor<2048x1024xbf16>
  %t = tensor.empty() : tensor<64x2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%t : tensor<64x2048xf32>) -> tensor<64x2048xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %k : tensor<64x1024xbf16>, tensor<2048x1024xbf16>) outs(%z : tensor<64x2048xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    %e = arith.extf %b : bf16 to f32
    %h = arith.mulf %c, %e : f32
    %i = arith.addf %o, %h : f32
    linalg.yield %i : f32
  } -> tensor<64x2048xf32>
  return %y : tensor<64x2048xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>

// An open number of rows; the kernels tell few from many.

// CHECK-LABEL: func.func @open(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x1024xbf16>, tensor<1024x2048xf32>)
// CHECK-SAME:      hir.tiles
// CHECK-NOT:     linalg.generic
func.func @open(%x: tensor<?x1024xbf16>, %w: tensor<1024x2048xf32>, %o: tensor<?x2048xf32>) -> tensor<?x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<1024x2048xbf16>
  %d = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<1024x2048xf32>) outs(%f : tensor<1024x2048xbf16>) {
  ^bb0(%a: f32, %p: bf16):
    %c = arith.truncf %a : f32 to bf16
    linalg.yield %c : bf16
  } -> tensor<1024x2048xbf16>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %y = linalg.matmul ins(%x, %d : tensor<?x1024xbf16>, tensor<1024x2048xbf16>) outs(%z : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  return %y : tensor<?x2048xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>

// Near misses, which stay two operations: many rows, terms that are no multiples of 8, a factor that
// is needed otherwise, and one that a reduction makes.

// CHECK-LABEL: func.func @many(
// CHECK-COUNT-2: linalg.generic
func.func @many(%x: tensor<8192x1024xbf16>, %w: tensor<1024x2048xf32>) -> tensor<8192x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<1024x2048xbf16>
  %d = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<1024x2048xf32>) outs(%f : tensor<1024x2048xbf16>) {
  ^bb0(%a: f32, %p: bf16):
    %c = arith.truncf %a : f32 to bf16
    linalg.yield %c : bf16
  } -> tensor<1024x2048xbf16>
  %t = tensor.empty() : tensor<8192x2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%t : tensor<8192x2048xf32>) -> tensor<8192x2048xf32>
  %y = linalg.matmul ins(%x, %d : tensor<8192x1024xbf16>, tensor<1024x2048xbf16>) outs(%z : tensor<8192x2048xf32>) -> tensor<8192x2048xf32>
  return %y : tensor<8192x2048xf32>
}

// CHECK-LABEL: func.func @odd(
// CHECK-COUNT-2: linalg.generic
func.func @odd(%x: tensor<64x1023xbf16>, %w: tensor<1023x2048xf32>) -> tensor<64x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<1023x2048xbf16>
  %d = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<1023x2048xf32>) outs(%f : tensor<1023x2048xbf16>) {
  ^bb0(%a: f32, %p: bf16):
    %c = arith.truncf %a : f32 to bf16
    linalg.yield %c : bf16
  } -> tensor<1023x2048xbf16>
  %t = tensor.empty() : tensor<64x2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%t : tensor<64x2048xf32>) -> tensor<64x2048xf32>
  %y = linalg.matmul ins(%x, %d : tensor<64x1023xbf16>, tensor<1023x2048xbf16>) outs(%z : tensor<64x2048xf32>) -> tensor<64x2048xf32>
  return %y : tensor<64x2048xf32>
}

// CHECK-LABEL: func.func @needed(
// CHECK-COUNT-2: linalg.generic
func.func @needed(%x: tensor<64x1024xbf16>, %w: tensor<1024x2048xf32>) -> (tensor<64x2048xf32>, tensor<1024x2048xbf16>) {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<1024x2048xbf16>
  %d = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<1024x2048xf32>) outs(%f : tensor<1024x2048xbf16>) {
  ^bb0(%a: f32, %p: bf16):
    %c = arith.truncf %a : f32 to bf16
    linalg.yield %c : bf16
  } -> tensor<1024x2048xbf16>
  %t = tensor.empty() : tensor<64x2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%t : tensor<64x2048xf32>) -> tensor<64x2048xf32>
  %y = linalg.matmul ins(%x, %d : tensor<64x1024xbf16>, tensor<1024x2048xbf16>) outs(%z : tensor<64x2048xf32>) -> tensor<64x2048xf32>
  return %y, %d : tensor<64x2048xf32>, tensor<1024x2048xbf16>
}

// CHECK-LABEL: func.func @reduced(
// CHECK-COUNT-2: linalg.generic
func.func @reduced(%x: tensor<64x1024xbf16>, %w: tensor<1024x2048x2xf32>) -> tensor<64x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<1024x2048xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%w : tensor<1024x2048x2xf32>) outs(%f : tensor<1024x2048xbf16>) {
  ^bb0(%a: f32, %p: bf16):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 2>} : (f32) -> f32
    %c = arith.truncf %m : f32 to bf16
    linalg.yield %c : bf16
  } -> tensor<1024x2048xbf16>
  %t = tensor.empty() : tensor<64x2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%t : tensor<64x2048xf32>) -> tensor<64x2048xf32>
  %y = linalg.matmul ins(%x, %d : tensor<64x1024xbf16>, tensor<1024x2048xbf16>) outs(%z : tensor<64x2048xf32>) -> tensor<64x2048xf32>
  return %y : tensor<64x2048xf32>
}

// RUN: hirc-opt %s --split-input-file -p fuse-into-products'{kernel-multiplications=1000}',func.func'(canonicalize,cse)' | FileCheck %s

// The zeros, a bias and an activation, and the rounding of the sum are part of one operation, into
// the memory that the last one writes.

// CHECK-DAG:   #[[FIRST:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[SECOND:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG:   #[[BIAS:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG:   #[[TURNED:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func.func @finished(
// CHECK-SAME:    %[[A:.*]]: tensor<64x32xbf16>, %[[B:.*]]: tensor<32x16xbf16>, %[[C:.*]]: tensor<64xbf16>)
// CHECK-NOT:     linalg.fill
// CHECK:         %[[OUT:.*]] = tensor.empty() : tensor<16x64xbf16>
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {indexing_maps = [#[[FIRST]], #[[SECOND]], #[[BIAS]], #[[TURNED]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:      ins(%[[A]], %[[B]], %[[C]] :
// CHECK-SAME:      outs(%[[OUT]] :
// CHECK-NEXT:    ^bb0(%[[X:.*]]: bf16, %[[Y:.*]]: bf16, %[[Z:.*]]: bf16, %{{.*}}: bf16):
// CHECK-NEXT:      %[[WIDE_X:.*]] = arith.extf %[[X]]
// CHECK-NEXT:      %[[WIDE_Y:.*]] = arith.extf %[[Y]]
// CHECK-NEXT:      %[[TERM:.*]] = arith.mulf %[[WIDE_X]], %[[WIDE_Y]] : f32
// CHECK-NEXT:      %[[SUM:.*]] = "hir.reduce_loops"(%[[TERM]]) {kind = "addf", loops = array<i64: 2>}
// CHECK-NEXT:      %[[WIDE_Z:.*]] = arith.extf %[[Z]]
// CHECK-NEXT:      %[[BIASED:.*]] = arith.addf %[[WIDE_Z]], %[[SUM]] : f32
// CHECK-NEXT:      %[[POSITIVE:.*]] = arith.maximumf %[[BIASED]]
// CHECK-NEXT:      %[[ROUNDED:.*]] = arith.truncf %[[POSITIVE]] : f32 to bf16
// CHECK-NEXT:      linalg.yield %[[ROUNDED]] : bf16
// CHECK:         return %[[R]]
func.func @finished(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>, %c: tensor<64xbf16>) -> tensor<16x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = linalg.matmul ins(%a, %b : tensor<64x32xbf16>, tensor<32x16xbf16>) outs(%f : tensor<64x16xf32>) -> tensor<64x16xf32>
  %o = tensor.empty() : tensor<16x64xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%c, %y : tensor<64xbf16>, tensor<64x16xf32>) outs(%o : tensor<16x64xbf16>) {
  ^bb0(%u: bf16, %x: f32, %old: bf16):
    %w = arith.extf %u : bf16 to f32
    %s = arith.addf %w, %x : f32
    %p = arith.maximumf %s, %zero : f32
    %n = arith.truncf %p : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<16x64xbf16>
  return %r : tensor<16x64xbf16>
}

// -----

// Without such an operation it is the zeros alone; narrow sums are rounded once.

// CHECK-LABEL: func.func @zeros(
// CHECK-NOT:     linalg.fill
// CHECK:         hir.reduce_loops
// CHECK-NEXT:    arith.truncf
// CHECK-NEXT:    linalg.yield
func.func @zeros(%a: tensor<64x32xf16>, %b: tensor<32x16xf16>) -> tensor<64x16xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x16xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<64x16xf16>) -> tensor<64x16xf16>
  %y = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x16xf16>) outs(%f : tensor<64x16xf16>) -> tensor<64x16xf16>
  return %y : tensor<64x16xf16>
}

// CHECK-LABEL: func.func @constant(
// CHECK:         %[[OUT:.*]] = tensor.empty() : tensor<64x16xf32>
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[OUT]] :
func.func @constant(%a: tensor<64x32xf32>, %b: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %f = arith.constant dense<0.0> : tensor<64x16xf32>
  %y = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x16xf32>) outs(%f : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}

// -----

// It adds what has an element for each of the result, a bias besides, and then applies an activation.

// CHECK-LABEL: func.func @residual(
// CHECK-SAME:    %[[A:[a-z0-9]*]]: tensor<64x64xbf16>, %[[B:[a-z0-9]*]]: tensor<64xbf16>, %[[C:[a-z0-9]*]]: tensor<64x64xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%[[A]], %[[A]], %[[B]], %[[C]] :
// CHECK:         hir.reduce_loops
// CHECK-NEXT:    arith.truncf
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    arith.maximumf
// CHECK-NEXT:    linalg.yield
// CHECK-NOT:     linalg.generic
// CHECK:         return
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @residual(%a: tensor<64x64xbf16>, %bias: tensor<64xbf16>, %c: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<64x64xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%c, %y, %bias : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64xbf16>) outs(%e : tensor<64x64xbf16>) {
  ^bb0(%x: bf16, %s: bf16, %b: bf16, %old: bf16):
    %u = arith.addf %x, %b : bf16
    %v = arith.addf %s, %u : bf16
    %m = arith.maximumf %v, %zero : bf16
    linalg.yield %m : bf16
  } -> tensor<64x64xbf16>
  return %r : tensor<64x64xbf16>
}

// Not where it is added after the activation, twice, or is the only thing that is.

// CHECK-LABEL: func.func @late(
// CHECK-COUNT-2: linalg.generic
// CHECK:         return
func.func @late(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%s: f32, %x: f32, %old: f32):
    %m = arith.maximumf %s, %zero : f32
    %v = arith.addf %m, %x : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @twice(
// CHECK-COUNT-2: linalg.generic
// CHECK:         return
func.func @twice(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%s: f32, %x: f32, %old: f32):
    %u = arith.addf %s, %x : f32
    %v = arith.addf %u, %x : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @squared(
// CHECK-COUNT-2: linalg.generic
// CHECK:         return
func.func @squared(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%s: f32, %old: f32):
    %u = arith.addf %s, %s : f32
    linalg.yield %u : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// What the library does not do stays an operation of its own: another function of the sum, one that
// adds what it reads in other loops, a product that is read twice, all that follows a sum of f64. One that adds to
// other numbers stays as it is, and a small one.

// CHECK-LABEL: func.func @apart(
// CHECK:         hir.reduce_loops
// CHECK-NEXT:    linalg.yield
// CHECK:         arith.mulf %{{.*}}, %cst
// CHECK:         hir.reduce_loops
// CHECK-NEXT:    linalg.yield
// CHECK:         arith.addf
// CHECK:         hir.reduce_loops
// CHECK-NEXT:    linalg.yield
// CHECK:         arith.maximumf
// CHECK:         linalg.matmul
// CHECK-NOT:     hir.reduce_loops
// CHECK-LABEL: func.func @wide(
// CHECK:         hir.reduce_loops
// CHECK-NEXT:    linalg.yield
// CHECK:         linalg.generic
#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @apart(%a: tensor<64x64xf32>, %small: tensor<8x8xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y0 = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y0 : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %old: f32):
    %v = arith.mulf %x, %half : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %y1 = linalg.matmul ins(%a, %r0 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r1 = linalg.generic {indexing_maps = [#id, #turned, #id], iterator_types = ["parallel", "parallel"]} ins(%y1, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %z: f32, %old: f32):
    %v = arith.addf %x, %z : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %y2 = linalg.matmul ins(%a, %r1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y2 : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %old: f32):
    %v = arith.maximumf %x, %zero : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %y3 = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  %es = tensor.empty() : tensor<8x8xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y4 = linalg.matmul ins(%small, %small : tensor<8x8xf32>, tensor<8x8xf32>) outs(%fs : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r0, %r1, %y2, %r2, %y3, %y4 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<8x8xf32>
}
func.func @wide(%a: tensor<64x64xf64>) -> tensor<64x64xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<64x64xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<64x64xf64>) -> tensor<64x64xf64>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xf64>, tensor<64x64xf64>) outs(%f : tensor<64x64xf64>) -> tensor<64x64xf64>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<64x64xf64>) outs(%e : tensor<64x64xf64>) {
  ^bb0(%x: f64, %old: f64):
    %v = arith.maximumf %x, %zero : f64
    linalg.yield %v : f64
  } -> tensor<64x64xf64>
  return %r : tensor<64x64xf64>
}

// -----

// An activation behind an expanded shape is part of it, too, whatever it refers to; not where the bias'
// sum is read twice, or for another function.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#id3 = affine_map<(i, j, k) -> (i, j, k)>

// CHECK-LABEL: func.func @expanded(
// CHECK:         %[[R:.*]] = linalg.generic
// CHECK:           arith.addf
// CHECK-NOT:       linalg.yield
// CHECK:           arith.maximumf
// CHECK-NEXT:      linalg.yield
// CHECK-NOT:     linalg.generic
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[R]]
// CHECK-NEXT:    return %[[E]]
// CHECK-LABEL: func.func @read_twice(
// CHECK:         tensor.expand_shape
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.maximumf
// CHECK-LABEL: func.func @another(
// CHECK:         tensor.expand_shape
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.exp
func.func @expanded(%a: tensor<64x64xf32>, %b: tensor<64xf32>) -> (tensor<8x8x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %z: f32, %old: f32):
    %v = arith.addf %x, %z : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %g = tensor.expand_shape %s [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
  %least = arith.constant 0.0 : f32
  %h = tensor.empty() : tensor<8x8x64xf32>
  %r = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g : tensor<8x8x64xf32>) outs(%h : tensor<8x8x64xf32>) {
  ^bb0(%x: f32, %old: f32):
    %v = arith.maximumf %x, %least : f32
    linalg.yield %v : f32
  } -> tensor<8x8x64xf32>
  return %r : tensor<8x8x64xf32>
}
func.func @read_twice(%a: tensor<64x64xf32>, %b: tensor<64xf32>) -> (tensor<8x8x64xf32>, tensor<8x8x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %z: f32, %old: f32):
    %v = arith.addf %x, %z : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %g = tensor.expand_shape %s [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
  %least = arith.constant 0.0 : f32
  %h = tensor.empty() : tensor<8x8x64xf32>
  %r = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g : tensor<8x8x64xf32>) outs(%h : tensor<8x8x64xf32>) {
  ^bb0(%x: f32, %old: f32):
    %v = arith.maximumf %x, %least : f32
    linalg.yield %v : f32
  } -> tensor<8x8x64xf32>
  return %r, %g : tensor<8x8x64xf32>, tensor<8x8x64xf32>
}
func.func @another(%a: tensor<64x64xf32>, %b: tensor<64xf32>) -> (tensor<8x8x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %z: f32, %old: f32):
    %v = arith.addf %x, %z : f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %g = tensor.expand_shape %s [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
  %least = arith.constant 0.0 : f32
  %h = tensor.empty() : tensor<8x8x64xf32>
  %r = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%g : tensor<8x8x64xf32>) outs(%h : tensor<8x8x64xf32>) {
  ^bb0(%x: f32, %old: f32):
    %v = math.exp %x : f32
    linalg.yield %v : f32
  } -> tensor<8x8x64xf32>
  return %r : tensor<8x8x64xf32>
}

// The result may have dims of one element that the sum has not.

// CHECK-LABEL: func.func @one_sequence(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>) outs(%{{.*}} : tensor<1x64x64xf32>) {
// CHECK:           hir.reduce_loops
// CHECK:           arith.addf
// CHECK:           arith.maximumf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @one_sequence(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %b: tensor<64xf32>) -> tensor<1x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %o = tensor.empty() : tensor<1x64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (0, i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : tensor<64x64xf32>, tensor<64xf32>) outs(%o : tensor<1x64x64xf32>) {
  ^bb0(%a: f32, %c: f32, %u: f32):
    %s = arith.addf %a, %c : f32
    %v = arith.maximumf %s, %zero : f32
    linalg.yield %v : f32
  } -> tensor<1x64x64xf32>
  return %r : tensor<1x64x64xf32>
}

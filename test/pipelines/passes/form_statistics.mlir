// RUN: hirc-opt %s --split-input-file -p 'normalize-tensor-operations,fuse-tensor-operations,form-contractions{products=true chips=sm_90a},func.func(canonicalize,cse)' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'normalize-tensor-operations,fuse-tensor-operations,form-contractions{products=true},func.func(canonicalize,cse)' | FileCheck %s --check-prefix=APART
// RUN: hirc-opt %s --split-input-file -p 'normalize-tensor-operations,fuse-tensor-operations,form-contractions{products=true chips=sm_75},func.func(canonicalize,cse)' | FileCheck %s --check-prefix=APART

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The sum of a row's squares is a result of the product's operation, which no longer gives the
// product itself. Chips without kernels of tiles, or none known, have two operations.

// CHECK-LABEL: func.func @squares(
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction"]}
// CHECK-SAME:      hir.statistics
// CHECK:           %[[SUM:.*]] = "hir.reduce_loops"(%{{.*}}) {kind = "addf", loops = array<i64: 2>}
// CHECK:           %[[SQUARE:.*]] = arith.mulf %[[SUM]], %[[SUM]]
// CHECK:           %[[ALL:.*]] = "hir.reduce_loops"(%[[SQUARE]]) {kind = "addf", loops = array<i64: 1>}
// CHECK:           linalg.yield %[[ALL]] : f32
// CHECK-NOT:     linalg.generic
// APART-LABEL: func.func @squares(
// APART-COUNT-2: linalg.generic
func.func @squares(%x: tensor<256x512xf32>, %w: tensor<512x384xf32>) -> tensor<256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x384xf32>) -> tensor<256x384xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x512xf32>, tensor<512x384xf32>) outs(%f : tensor<256x384xf32>) -> tensor<256x384xf32>
  %o = tensor.empty() : tensor<256xf32>
  %g = linalg.fill ins(%zero : f32) outs(%o : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%y : tensor<256x384xf32>) outs(%g : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %b, %q : f32
    linalg.yield %t : f32
  } -> tensor<256xf32>
  return %s : tensor<256xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A product that something else reads is one more result: here, the product with other weights.

// CHECK-LABEL: func.func @read_twice(
// CHECK:         %[[BOTH:.*]]:2 = linalg.generic {{.*}} hir.statistics
// CHECK:         linalg.generic {{.*}} ins(%[[BOTH]]#0, %{{.*}} hir.tiles
// CHECK-NOT:     linalg.generic
// CHECK:         return %{{.*}}, %[[BOTH]]#1
func.func @read_twice(%x: tensor<256x512xf32>, %w: tensor<512x384xf32>, %v: tensor<384x512xf32>)
    -> (tensor<256x512xf32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x384xf32>) -> tensor<256x384xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x512xf32>, tensor<512x384xf32>) outs(%f : tensor<256x384xf32>) -> tensor<256x384xf32>
  %o = tensor.empty() : tensor<256xf32>
  %g = linalg.fill ins(%zero : f32) outs(%o : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.reduce {arith.addf} ins(%y : tensor<256x384xf32>) outs(%g : tensor<256xf32>) dimensions = [1]
  %d = tensor.empty() : tensor<256x512xf32>
  %h = linalg.fill ins(%zero : f32) outs(%d : tensor<256x512xf32>) -> tensor<256x512xf32>
  %z = linalg.matmul ins(%y, %v : tensor<256x384xf32>, tensor<384x512xf32>) outs(%h : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %z, %s : tensor<256x512xf32>, tensor<256xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Not so: of two reductions one needs the other's result, as in a softmax; the sum is part of what
// is written along the row; few elements are reduced.

// CHECK-LABEL: func.func @softmax(
// CHECK-NOT:     hir.statistics
func.func @softmax(%x: tensor<256x512xf32>, %w: tensor<512x384xf32>) -> tensor<256x384xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<256x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x384xf32>) -> tensor<256x384xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x512xf32>, tensor<512x384xf32>) outs(%f : tensor<256x384xf32>) -> tensor<256x384xf32>
  %o = tensor.empty() : tensor<256xf32>
  %g = linalg.fill ins(%low : f32) outs(%o : tensor<256xf32>) -> tensor<256xf32>
  %m = linalg.reduce {arith.maximumf} ins(%y : tensor<256x384xf32>) outs(%g : tensor<256xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y, %m : tensor<256x384xf32>, tensor<256xf32>) outs(%e : tensor<256x384xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %q = math.exp %d : f32
    linalg.yield %q : f32
  } -> tensor<256x384xf32>
  %h = linalg.fill ins(%zero : f32) outs(%o : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<256x384xf32>) outs(%h : tensor<256xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
    ins(%p, %s : tensor<256x384xf32>, tensor<256xf32>) outs(%e : tensor<256x384xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<256x384xf32>
  return %r : tensor<256x384xf32>
}

// CHECK-LABEL: func.func @written_along(
// CHECK-NOT:     hir.statistics
func.func @written_along(%x: tensor<256x512xf32>, %w: tensor<512x384xf32>) -> tensor<256x384xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x384xf32>) -> tensor<256x384xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x512xf32>, tensor<512x384xf32>) outs(%f : tensor<256x384xf32>) -> tensor<256x384xf32>
  %o = tensor.empty() : tensor<256xf32>
  %g = linalg.fill ins(%zero : f32) outs(%o : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.reduce {arith.addf} ins(%y : tensor<256x384xf32>) outs(%g : tensor<256xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
    ins(%y, %s : tensor<256x384xf32>, tensor<256xf32>) outs(%e : tensor<256x384xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<256x384xf32>
  return %r : tensor<256x384xf32>
}

// CHECK-LABEL: func.func @few(
// CHECK-NOT:     hir.statistics
func.func @few(%x: tensor<256x512xf32>, %w: tensor<512x384xf32>) -> tensor<256x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x384xf32>) -> tensor<256x384xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x512xf32>, tensor<512x384xf32>) outs(%f : tensor<256x384xf32>) -> tensor<256x384xf32>
  %v = tensor.expand_shape %y [[0], [1, 2]] output_shape [256, 24, 16] : tensor<256x384xf32> into tensor<256x24x16xf32>
  %o = tensor.empty() : tensor<256x24xf32>
  %g = linalg.fill ins(%zero : f32) outs(%o : tensor<256x24xf32>) -> tensor<256x24xf32>
  %s = linalg.reduce {arith.addf} ins(%v : tensor<256x24x16xf32>) outs(%g : tensor<256x24xf32>) dimensions = [2]
  return %s : tensor<256x24xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

// A kernel reduces sums, and not what it has reduced: that is another operation's, whether it
// reads the reduction itself or what is made of it.

// CHECK-LABEL: func.func @reduced_twice(
// CHECK:         %[[ROWS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction"]}
// CHECK-SAME:      hir.statistics
// CHECK-COUNT-2:   "hir.reduce_loops"
// CHECK-NOT:       "hir.reduce_loops"
// CHECK:           math.sqrt
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[ROWS]] :
// CHECK:           "hir.reduce_loops"
func.func @reduced_twice(%x: tensor<256x512xf32>, %w: tensor<512x384xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x384xf32>) -> tensor<256x384xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x512xf32>, tensor<512x384xf32>) outs(%f : tensor<256x384xf32>) -> tensor<256x384xf32>
  %o = tensor.empty() : tensor<256xf32>
  %g = linalg.fill ins(%zero : f32) outs(%o : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%y : tensor<256x384xf32>) outs(%g : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %b, %q : f32
    linalg.yield %t : f32
  } -> tensor<256xf32>
  %n = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
    ins(%s : tensor<256xf32>) outs(%o : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = math.sqrt %a : f32
    linalg.yield %q : f32
  } -> tensor<256xf32>
  %p = tensor.empty() : tensor<f32>
  %h = linalg.fill ins(%zero : f32) outs(%p : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#one, #none], iterator_types = ["reduction"]}
    ins(%n : tensor<256xf32>) outs(%h : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %b, %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// A row of several heads is reduced by heads: the product has loops of these.

// CHECK-LABEL: func.func @heads(
// CHECK:         tensor.expand_shape %{{.*}} into tensor<512x6x64xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
// CHECK-SAME:      hir.statistics
// CHECK:           "hir.reduce_loops"(%{{.*}}) {kind = "addf", loops = array<i64: 3>}
// CHECK:           "hir.reduce_loops"(%{{.*}}) {kind = "maximumf", loops = array<i64: 2>}
func.func @heads(%x: tensor<256x512xf32>, %w: tensor<512x384xf32>) -> tensor<256x6xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<256x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x384xf32>) -> tensor<256x384xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x512xf32>, tensor<512x384xf32>) outs(%f : tensor<256x384xf32>) -> tensor<256x384xf32>
  %v = tensor.expand_shape %y [[0], [1, 2]] output_shape [256, 6, 64] : tensor<256x384xf32> into tensor<256x6x64xf32>
  %o = tensor.empty() : tensor<256x6xf32>
  %g = linalg.fill ins(%low : f32) outs(%o : tensor<256x6xf32>) -> tensor<256x6xf32>
  %s = linalg.reduce {arith.maximumf} ins(%v : tensor<256x6x64xf32>) outs(%g : tensor<256x6xf32>) dimensions = [2]
  return %s : tensor<256x6xf32>
}

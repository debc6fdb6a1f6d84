// RUN: hirc-opt %s --split-input-file -p split-reshaped-loops | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// What reads the merged dims, and a scale of them, goes over those before. What is returned is a
// reshape.

// CHECK-DAG:   #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @collapsed(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4x32xf32>, %[[W:.*]]: tensor<32xf32>)
// CHECK:         %[[P:.*]] = linalg.generic
// CHECK:         %[[V:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1]] output_shape [8, 4]
// CHECK:         %[[Q:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ROWS]], #[[ALL]]]
// CHECK-SAME:      ins(%[[P]], %[[V]] : tensor<8x4x32xf32>, tensor<8x4xf32>)
// CHECK:         %[[R:.*]] = tensor.collapse_shape %[[Q]] {{\[\[}}0, 1], [2]]
// CHECK:         return %[[R]] : tensor<32x32xf32>
func.func @collapsed(%x: tensor<8x4x32xf32>, %w: tensor<32xf32>) -> tensor<32x32xf32> {
  %e = tensor.empty() : tensor<8x4x32xf32>
  %p = linalg.generic {indexing_maps = [#three, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<8x4x32xf32>) outs(%e : tensor<8x4x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<8x4x32xf32>
  %c = tensor.collapse_shape %p [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
  %f = tensor.empty() : tensor<32x32xf32>
  %q = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c, %w : tensor<32x32xf32>, tensor<32xf32>) outs(%f : tensor<32x32xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %y = arith.mulf %a, %s : f32
    linalg.yield %y : f32
  } -> tensor<32x32xf32>
  return %q : tensor<32x32xf32>
}

// -----

#one = affine_map<(d0) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// What makes the dims that are split goes over the parts; a reduction over them, over both.

// CHECK-DAG:   #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @expanded(
// CHECK-SAME:    %[[X:.*]]: tensor<64xf32>)
// CHECK:         %[[V:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1]] output_shape [8, 8]
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[V]] : tensor<8x8xf32>)
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]
// CHECK:         "hir.reduce_loops"(%{{.*}}) {kind = "addf", loops = array<i64: 0, 1>}
func.func @expanded(%x: tensor<64xf32>) -> (tensor<8xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<64xf32>
  %n = tensor.empty() : tensor<f32>
  %all = linalg.generic {indexing_maps = [#one, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%p : tensor<64xf32>) outs(%n : tensor<f32>) attrs = {hir.collective} {
  ^bb0(%a: f32, %o: f32):
    %y = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    linalg.yield %y : f32
  } -> tensor<f32>
  %s = tensor.expand_shape %p [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<8x8xf32>) outs(%f : tensor<8xf32>) attrs = {hir.collective} {
  ^bb0(%a: f32, %o: f32):
    %y = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %q, %all : tensor<8xf32>, tensor<f32>
}

// -----

#one = affine_map<(d0) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// A number of the merged loop is no number of the parts', and what begins elsewhere is not split.

// CHECK-LABEL: func.func @numbered(
// CHECK:         tensor.collapse_shape
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]}
// CHECK:         linalg.index 0
func.func @numbered(%x: tensor<8x8xf32>) -> tensor<64xi64> {
  %e = tensor.empty() : tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<8x8xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %f = tensor.empty() : tensor<64xi64>
  %q = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%c : tensor<64xf32>) outs(%f : tensor<64xi64>) {
  ^bb0(%a: f32, %o: i64):
    %i = linalg.index 0 : index
    %n = arith.fptosi %a : f32 to i64
    %k = arith.index_cast %i : index to i64
    %y = arith.addi %n, %k : i64
    linalg.yield %y : i64
  } -> tensor<64xi64>
  return %q : tensor<64xi64>
}

// CHECK-LABEL: func.func @shifted(
// CHECK:         tensor.collapse_shape
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]}
func.func @shifted(%x: tensor<8x8xf32>) -> tensor<63xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<8x8xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %f = tensor.empty() : tensor<63xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 + 1)>, #one], iterator_types = ["parallel"]}
      ins(%c : tensor<64xf32>) outs(%f : tensor<63xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.absf %a : f32
    linalg.yield %y : f32
  } -> tensor<63xf32>
  return %q : tensor<63xf32>
}

// -----

#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// A product's rows and columns stay one dim each; so do those of what is done to its result alone.

// CHECK-LABEL: func.func @product(
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:         %[[B:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%[[P]] :
// CHECK:         tensor.expand_shape %[[B]]
func.func @product(%x: tensor<16x32xf32>, %w: tensor<8x32xf32>) -> tensor<2x8x8xf32> {
  %e = tensor.empty() : tensor<16x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<16x32xf32>, tensor<8x32xf32>) outs(%e : tensor<16x8xf32>) attrs = {hir.collective} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<16x8xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%p : tensor<16x8xf32>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.absf %a : f32
    linalg.yield %y : f32
  } -> tensor<16x8xf32>
  %v = tensor.expand_shape %b [[0, 1], [2]] output_shape [2, 8, 8] : tensor<16x8xf32> into tensor<2x8x8xf32>
  %f = tensor.empty() : tensor<2x8x8xf32>
  %q = linalg.generic {indexing_maps = [#three, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v : tensor<2x8x8xf32>) outs(%f : tensor<2x8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<2x8x8xf32>
  return %q : tensor<2x8x8xf32>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// What canonicalization has cast to the sizes of others is compared with them: its kernel does not
// see it.

// CHECK-LABEL: func.func @cast(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4x32xf32>, %[[W:.*]]: tensor<?x32xf32>)
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[W]], %{{.*}} : tensor<?x32xf32>
// CHECK:         %[[FITS:.*]] = arith.cmpi eq, %[[SIZE]], %{{.*}} : index
// CHECK-NEXT:    cf.assert %[[FITS]], "dim 0 of operand 1 and its loop of linalg.generic must have the same size"
// CHECK-NOT:     cf.assert
// CHECK:         tensor.expand_shape
func.func @cast(%x: tensor<8x4x32xf32>, %w: tensor<?x32xf32>) -> tensor<32x32xf32> {
  %e = tensor.empty() : tensor<8x4x32xf32>
  %p = linalg.generic {indexing_maps = [#three, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<8x4x32xf32>) outs(%e : tensor<8x4x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<8x4x32xf32>
  %c = tensor.collapse_shape %p [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
  %f = tensor.empty() : tensor<32x32xf32>
  %v = tensor.cast %w : tensor<?x32xf32> to tensor<32x32xf32>
  %q = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c, %v : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %y = arith.mulf %a, %s : f32
    linalg.yield %y : f32
  } -> tensor<32x32xf32>
  return %q : tensor<32x32xf32>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// A dim whose size is open is not split.

// CHECK-LABEL: func.func @open(
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
func.func @open(%x: tensor<8x4x32xf32>, %w: tensor<?x32xf32>) -> tensor<32x32xf32> {
  %e = tensor.empty() : tensor<8x4x32xf32>
  %p = linalg.generic {indexing_maps = [#three, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<8x4x32xf32>) outs(%e : tensor<8x4x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<8x4x32xf32>
  %c = tensor.collapse_shape %p [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
  %f = tensor.empty() : tensor<32x32xf32>
  %q = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c, %w : tensor<32x32xf32>, tensor<?x32xf32>) outs(%f : tensor<32x32xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %y = arith.mulf %a, %s : f32
    linalg.yield %y : f32
  } -> tensor<32x32xf32>
  return %q : tensor<32x32xf32>
}

// -----

#one = affine_map<(d0) -> (d0)>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// What is read is taken from before the reshape, with its dim of size 1; a result that begins as the
// same tensor has none.

// CHECK-LABEL: func.func @begins_as_a_reshape(
// CHECK:         [[MADE:%.*]] = linalg.generic
// CHECK:         [[SPLIT:%.*]] = linalg.generic {{.*}} ins([[MADE]] : tensor<16x1x3xf32>) outs({{%.*}} : tensor<16x3xf32>)
// CHECK:         tensor.collapse_shape [[SPLIT]] {{\[\[}}0, 1]] : tensor<16x3xf32> into tensor<48xf32>
func.func @begins_as_a_reshape(%x: tensor<16x1x3xf32>) -> tensor<48xf32> {
  %e = tensor.empty() : tensor<16x1x3xf32>
  %p = linalg.generic {indexing_maps = [#three, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<16x1x3xf32>) outs(%e : tensor<16x1x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.exp %a : f32
    linalg.yield %y : f32
  } -> tensor<16x1x3xf32>
  %c = tensor.collapse_shape %p [[0, 1, 2]] : tensor<16x1x3xf32> into tensor<48xf32>
  %q = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%c : tensor<48xf32>) outs(%c : tensor<48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.mulf %a, %a : f32
    linalg.yield %y : f32
  } -> tensor<48xf32>
  return %q : tensor<48xf32>
}

// RUN: hirc-opt %s --split-input-file --divide-functions-over-mesh --canonicalize --cse | FileCheck %s

// A sum whose terms are divided is combined where a device gets its rows alone; of what is whole
// each takes its own rows.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4xf32>) -> tensor<2x4xf32>
// CHECK: %[[PARTS:.*]] = linalg.matmul ins(%[[X]], %[[W]] : tensor<4x8xf32>, tensor<8x4xf32>)
// CHECK: %[[BUFFER:.*]] = bufferization.to_buffer %[[PARTS]] read_only : tensor<4x4xf32> to memref<4x4xf32>
// CHECK: %[[SUM:.*]] = "hir.reshard"(%[[BUFFER]]) {from = ["partial:sum"], {{.*}}to = ["axis:0"]{{.*}} -> memref<2x4xf32>
// CHECK: %[[ROWS:.*]] = bufferization.to_tensor %[[SUM]] restrict : memref<2x4xf32> to tensor<2x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]], %[[B]] : tensor<2x4xf32>, tensor<4xf32>)
func.func @rows(%x: tensor<4x16xf32> {hir.spread = ["axis:1"]},
                %w: tensor<16x4xf32> {hir.spread = ["axis:0"]}, %b: tensor<4xf32>)
    -> (tensor<4x4xf32> {hir.spread = ["axis:0"]}) attributes {hir.mesh = array<i64: 2>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x4xf32>)
                     outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// -----

// A start that changes the sum, and a product of parts: the operands are collected.
// CHECK-LABEL: func.func @no_parts(
// CHECK: "hir.reshard"({{.*}}from = ["axis:0"]{{.*}}to = ["whole"]
// CHECK: linalg.reduce {{.*}}arith.addf
// CHECK: "hir.reshard"({{.*}}from = ["partial:sum"]{{.*}}to = ["whole"]
// CHECK: arith.mulf
func.func @no_parts(%x: tensor<8xf32> {hir.spread = ["axis:0"]},
                    %p: tensor<4xf32> {hir.spread = ["partial:sum"]})
    -> (tensor<f32>, tensor<4xf32>) attributes {hir.mesh = array<i64: 2>} {
  %one = arith.constant dense<1.0> : tensor<f32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<8xf32>) outs(%one : tensor<f32>) dimensions = [0]
  %e = tensor.empty() : tensor<4xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%p : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<4xf32>
  return %s, %q : tensor<f32>, tensor<4xf32>
}

// -----

// A dim that is divided and joined to one before it: what takes the whole has it apart.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME: tensor<2x2x8xf32>) -> tensor<2x2x8xf32>
// CHECK-NOT: hir.reshard
// CHECK: linalg.generic {{.*}} tensor<2x2x8xf32>
// CHECK-NOT: hir.reshard
// CHECK: return %{{.*}} : tensor<2x2x8xf32>
func.func @heads(%x: tensor<2x4x8xf32> {hir.spread = ["axis:1"]})
    -> (tensor<2x4x8xf32> {hir.spread = ["axis:1"]}) attributes {hir.mesh = array<i64: 2>} {
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x4x8xf32> into tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %y = linalg.exp ins(%flat : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 4, 8]
      : tensor<8x8xf32> into tensor<2x4x8xf32>
  return %z : tensor<2x4x8xf32>
}

// -----

// A size that the program asks for is that of the whole; a loop takes what is whole. Devices that
// need nothing of one another are a team all the same.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32> {hir.sizes = ["n/2"]}) -> (tensor<?xf32>, index)
// CHECK: hir.communicator
// CHECK: %[[PART:.*]] = tensor.dim %[[X]]
// CHECK: %[[WHOLE:.*]] = arith.muli %[[PART]], %{{.*}}
// CHECK: linalg.exp ins(%[[X]] : tensor<?xf32>)
// CHECK: return %{{.*}}, %[[WHOLE]]
func.func @sizes(%x: tensor<?xf32> {hir.sizes = ["n"], hir.spread = ["axis:0"]})
    -> (tensor<?xf32> {hir.spread = ["axis:0"]}, index) attributes {hir.mesh = array<i64: 2>} {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %y, %n : tensor<?xf32>, index
}

// -----

// Parts that are asked for are the whole on the first device, and nothing on the others.
// CHECK-LABEL: func.func @parts(
// CHECK: %[[RANK:.*]] = "hir.rank"
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: arith.select %[[FIRST]]
func.func @parts(%x: tensor<4xf32>) -> (tensor<4xf32> {hir.spread = ["partial:sum"]})
    attributes {hir.mesh = array<i64: 2>} {
  return %x : tensor<4xf32>
}

// -----

// Parts of a sum are rounded before they are combined; they are not the parts of a product.
// CHECK-LABEL: func.func @rounded(
// CHECK: arith.truncf
// CHECK: "hir.reshard"({{.*}}from = ["partial:sum"]{{.*}}to = ["whole"]{{.*}} (memref<8xbf16>)
// CHECK-LABEL: func.func @products(
// CHECK: "hir.reshard"({{.*}}from = ["partial:sum"]{{.*}}to = ["whole"]{{.*}} (memref<8x4xf32>)
// CHECK: linalg.reduce
func.func @rounded(%x: tensor<8xf32> {hir.spread = ["partial:sum"]}) -> tensor<8xbf16>
    attributes {hir.mesh = array<i64: 2>} {
  %e = tensor.empty() : tensor<8xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %b = arith.truncf %a : f32 to bf16
    linalg.yield %b : bf16
  } -> tensor<8xbf16>
  return %y : tensor<8xbf16>
}
func.func @products(%x: tensor<8x4xf32> {hir.spread = ["partial:sum"]}) -> tensor<8xf32>
    attributes {hir.mesh = array<i64: 2>} {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %y = linalg.reduce {arith.mulf} ins(%x : tensor<8x4xf32>) outs(%ones : tensor<8xf32>) dimensions = [1]
  return %y : tensor<8xf32>
}

// -----

// A sum in f32 of products of bf16, with a bias and then rounded: its parts are rounded before they
// are combined. What is not rounded is combined as it is.
// CHECK-LABEL: func.func @narrow(
// CHECK: "hir.reshard"({{.*}}from = ["partial:sum"]{{.*}}to = ["whole"]{{.*}} (memref<4x4xbf16>)
// CHECK: arith.extf
// CHECK: arith.truncf
// CHECK: "hir.reshard"({{.*}}from = ["partial:sum"]{{.*}}to = ["whole"]{{.*}} (memref<4x4xf32>)
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#i = affine_map<(m, n) -> (m, n)>
#b = affine_map<(m, n) -> (n)>
func.func @narrow(%x: tensor<4x64xbf16> {hir.spread = ["axis:1"]},
                  %w: tensor<64x4xbf16> {hir.spread = ["axis:0"]}, %b: tensor<4xf32>)
    -> (tensor<4x4xbf16>, tensor<4x4xf32>) attributes {hir.mesh = array<i64: 2>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xbf16>, tensor<64x4xbf16>) outs(%zeros : tensor<4x4xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %f = arith.extf %a : bf16 to f32
    %g = arith.extf %c : bf16 to f32
    %p = arith.mulf %f, %g : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %z = linalg.generic {indexing_maps = [#i, #b, #i], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %n = tensor.empty() : tensor<4x4xbf16>
  %t = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<4x4xf32>) outs(%n : tensor<4x4xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4x4xbf16>
  %v = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xbf16>, tensor<64x4xbf16>) outs(%zeros : tensor<4x4xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %f = arith.extf %a : bf16 to f32
    %g = arith.extf %c : bf16 to f32
    %p = arith.mulf %g, %f : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %t, %v : tensor<4x4xbf16>, tensor<4x4xf32>
}

// -----

// State is divided, and so is what is inserted along the dims that it fills; a weight that devices
// have parts of is one of the parts.
// CHECK-LABEL: func.func @state(
// CHECK-SAME: %[[X:.*]]: tensor<1x2x8xf32>, %{{.*}}: index, %[[KEPT:.*]]: tensor<2x16x8xf32> {hirc.state = "kept", hirc.zero_init}, %[[W:.*]]: tensor<2x8xf32> {hirc.weight = "w"}) -> (tensor<2x16x8xf32> {hirc.updates = 2 : i64})
// CHECK-NOT: hir.reshard
// CHECK: tensor.insert_slice %{{.*}} into %[[KEPT]][0, %{{.*}}, 0] [2, 1, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<2x16x8xf32>
module attributes {hirc.weights = {bytes = 256 : i64, file = "",
    header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[0,128]}}",
    parts = "{\"cuts\": {\"w\": [[2, 0]]}, \"places\": {\"w\": 0}, \"bytes\": 256}"}} {
  func.func @state(%x: tensor<1x4x8xf32> {hir.spread = ["axis:1"]}, %at: index,
                   %kept: tensor<4x16x8xf32> {hirc.state = "kept", hirc.zero_init, hir.spread = ["axis:0"]},
                   %w: tensor<4x8xf32> {hirc.weight = "w", hir.spread = ["axis:0"]})
      -> (tensor<4x16x8xf32> {hirc.updates = 2}) attributes {hir.mesh = array<i64: 2>} {
    %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x4x8xf32> into tensor<4x8xf32>
    %e = tensor.empty() : tensor<4x8xf32>
    %y = linalg.mul ins(%rows, %w : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %new = tensor.insert_slice %y into %kept[0, %at, 0] [4, 1, 8] [1, 1, 1]
        : tensor<4x8xf32> into tensor<4x16x8xf32>
    return %new : tensor<4x16x8xf32>
  }
}

// -----

// What is inserted along the dim that is divided goes into the whole.
// CHECK-LABEL: func.func @part(
// CHECK: "hir.reshard"({{.*}}from = ["axis:0"]{{.*}}to = ["whole"]
// CHECK: tensor.insert_slice {{.*}} into tensor<8x4xf32>
// CHECK: tensor.extract_slice {{.*}} : tensor<8x4xf32> to tensor<4x4xf32>
func.func @part(%x: tensor<2x4xf32>, %at: index,
                %kept: tensor<8x4xf32> {hirc.state = "kept", hirc.zero_init, hir.spread = ["axis:0"]})
    -> (tensor<8x4xf32> {hirc.updates = 2}) attributes {hir.mesh = array<i64: 2>} {
  %new = tensor.insert_slice %x into %kept[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<8x4xf32>
  return %new : tensor<8x4xf32>
}

// -----

// A scatter is divided along the dims that its updates fill: not along the second one here, of which
// it writes two elements.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: tensor<2x4x8xf32>
// CHECK-NOT: hir.reshard
// CHECK: "hir.scatter"
// CHECK: -> tensor<2x4x8xf32>
// CHECK: "hir.reshard"({{.*}}from = ["axis:1"]{{.*}}to = ["axis:0"]
// CHECK: "hir.scatter"
func.func @scatter(%u: tensor<4x2x8xf32> {hir.spread = ["axis:0"]}, %i: tensor<2xindex>,
                   %kept: tensor<4x4x8xf32> {hirc.state = "kept", hirc.zero_init, hir.spread = ["axis:0"]},
                   %other: tensor<4x4x8xf32> {hirc.state = "other", hirc.zero_init, hir.spread = ["axis:1"]})
    -> (tensor<4x4x8xf32> {hirc.updates = 2}, tensor<4x4x8xf32> {hirc.updates = 3})
    attributes {hir.mesh = array<i64: 2>} {
  %new = linalg.generic {indexing_maps = [affine_map<(h, r, c) -> (h, r, c)>, affine_map<(h, r, c) -> (r)>,
      affine_map<(h, r, c) -> (0, 0, 0)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%u, %i : tensor<4x2x8xf32>, tensor<2xindex>) outs(%kept : tensor<4x4x8xf32>) {
  ^bb0(%value: f32, %place: index, %begun: f32):
    %h = linalg.index 0 : index
    %c = linalg.index 2 : index
    %r = "hir.scatter"(%begun, %value, %h, %place, %c) : (f32, f32, index, index, index) -> f32
    linalg.yield %r : f32
  } -> tensor<4x4x8xf32>
  %newer = linalg.generic {indexing_maps = [affine_map<(h, r, c) -> (h, r, c)>,
      affine_map<(h, r, c) -> (0, 0, 0)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%u : tensor<4x2x8xf32>) outs(%other : tensor<4x4x8xf32>) {
  ^bb0(%value: f32, %begun: f32):
    %h = linalg.index 0 : index
    %r = linalg.index 1 : index
    %c = linalg.index 2 : index
    %s = "hir.scatter"(%begun, %value, %h, %r, %c) : (f32, f32, index, index, index) -> f32
    linalg.yield %s : f32
  } -> tensor<4x4x8xf32>
  return %new, %newer : tensor<4x4x8xf32>, tensor<4x4x8xf32>
}

// -----

// Fewer bytes would be sent to collect both factors, and each device would then compute all of the
// product: that takes longer. What is combined is rounded before.
// CHECK-LABEL: func.func @long(
// CHECK-NOT: from = ["axis
// CHECK: linalg.matmul ins({{.*}} : tensor<16384x1024xbf16>, tensor<1024x4096xbf16>) outs({{.*}} : tensor<16384x4096xf32>)
// CHECK: arith.truncf
// CHECK: "hir.reshard"({{.*}}from = ["partial:sum"]{{.*}}to = ["whole"]{{.*}} : (memref<16384x4096xbf16>)
func.func @long(%x: tensor<16384x4096xbf16> {hir.spread = ["axis:1"]},
                %w: tensor<4096x4096xbf16> {hir.spread = ["axis:0"]}) -> tensor<16384x4096xbf16>
    attributes {hir.mesh = array<i64: 4>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16384x4096xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %y = linalg.matmul ins(%x, %w : tensor<16384x4096xbf16>, tensor<4096x4096xbf16>)
                     outs(%zeros : tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %o = tensor.empty() : tensor<16384x4096xbf16>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%y : tensor<16384x4096xf32>) outs(%o : tensor<16384x4096xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %s = arith.truncf %a : f32 to bf16
    linalg.yield %s : bf16
  } -> tensor<16384x4096xbf16>
  return %z : tensor<16384x4096xbf16>
}

// -----

// Of seven rows the first of three devices have three each, the last one has one: it fills them up,
// as all communicate and compute as many, and gives its own.

// CHECK-LABEL: func.func @uneven(
// CHECK-SAME:      %[[X:.*]]: tensor<?x4xf32> {hir.name = "x"}, %[[N:.*]]: tensor<?xi32>
// CHECK-SAME:      -> (tensor<?x4xf32>, tensor<?xi32>)
// CHECK:         cf.assert %{{.*}}, "input 'x': of the 7 elements of dim 0 the first of 3 devices have 3 each, the next what is left; this one is given another number"
// CHECK:         %[[FILLED:.*]] = tensor.pad %[[X]]
// CHECK:           tensor<?x4xf32> to tensor<3x4xf32>
// CHECK:         tensor.pad %[[N]]
// CHECK:         math.exp
// A divisor may not be what fills a part up: all are collected, and each device takes its own.
// CHECK:         %[[ALL:.*]] = "hir.reshard"{{.*}} -> memref<9xi32>
// CHECK:         arith.divsi
// CHECK:         tensor<7xi32>
// CHECK:         tensor.extract_slice %{{.*}} : tensor<3x4xf32> to tensor<?x4xf32>
func.func @uneven(%x: tensor<7x4xf32> {hir.name = "x", hir.spread = ["axis:0"]},
                  %n: tensor<7xi32> {hir.spread = ["axis:0"]})
    -> (tensor<7x4xf32> {hir.spread = ["axis:0"]}, tensor<7xi32> {hir.spread = ["axis:0"]})
    attributes {hir.mesh = array<i64: 3>} {
  %empty = tensor.empty() : tensor<7x4xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<7x4xf32>) outs(%empty : tensor<7x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<7x4xf32>
  %c9 = arith.constant 9 : i32
  %none = tensor.empty() : tensor<7xi32>
  %q = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%n : tensor<7xi32>) outs(%none : tensor<7xi32>) {
  ^bb0(%a: i32, %out: i32):
    %d = arith.divsi %c9, %a : i32
    linalg.yield %d : i32
  } -> tensor<7xi32>
  return %y, %q : tensor<7x4xf32>, tensor<7xi32>
}

// -----

// Shares of a sum of which devices have parts: the parts are of one size, as those of the whole are.
// CHECK-LABEL: func.func @shares(
// CHECK-SAME:      %{{.*}}: tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK-NOT:     tensor.extract_slice
// CHECK:         arith.select
func.func @shares(%x: tensor<2x4xf32> {hir.spread = ["axis:0", "whole"]})
    -> (tensor<2x4xf32> {hir.spread = ["axis:0", "partial:sum"]})
    attributes {hir.mesh = array<i64: 2, 2>} {
  return %x : tensor<2x4xf32>
}

// RUN: hirc-opt %s --split-input-file -p normalize-tensor-operations,form-contractions,func.func'(canonicalize,cse)' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p normalize-tensor-operations,'form-contractions{products=true}',func.func'(canonicalize,cse)' | FileCheck %s --check-prefix=OWN

#all = affine_map<(n, f, h, w) -> (n, f, h, w)>

// The bias, the activation and the padding are part of one operation, which sums in its region.

// CHECK-LABEL: func.func @whole(
// CHECK-SAME:    %[[X:.*]]: tensor<1x2x5x6xf32>, %[[K:.*]]: tensor<4x2x3x3xf32>, %[[B:.*]]: tensor<4xf32>
// CHECK-NOT:     tensor.pad
// CHECK:         linalg.generic {{.*}}"reduction", "reduction", "reduction"]}
// CHECK-SAME:      ins(%[[K]], %[[B]] :
// CHECK:           scf.if
// CHECK-NEXT:        tensor.extract %[[X]]
// CHECK:           arith.mulf
// CHECK-NEXT:      "hir.reduce_loops"{{.*}}kind = "addf"
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      arith.maximumf
// CHECK-NEXT:      linalg.yield
// CHECK-NOT:     linalg.generic
func.func @whole(%x: tensor<1x2x5x6xf32>, %k: tensor<4x2x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x5x6xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : f32
  } : tensor<1x2x5x6xf32> to tensor<1x2x7x8xf32>
  %e = tensor.empty() : tensor<1x4x5x6xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (f)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%b : tensor<4xf32>) outs(%e : tensor<1x4x5x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x4x5x6xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %k : tensor<1x2x7x8xf32>, tensor<4x2x3x3xf32>)
    outs(%s : tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%y : tensor<1x4x5x6xf32>) outs(%e : tensor<1x4x5x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x4x5x6xf32>
  return %r : tensor<1x4x5x6xf32>
}

// -----

// Padding with another number, or with a zero that has a sign, stays in memory; so does the result of
// a sum that others read too.

// CHECK-LABEL: func.func @apart(
// CHECK:         tensor.pad
// CHECK:         tensor.pad
// CHECK-COUNT-3: linalg.generic
func.func @apart(%x: tensor<1x2x5x6xf32>, %k: tensor<4x2x3x3xf32>)
    -> (tensor<1x4x5x6xf32>, tensor<1x4x5x6xf32>, tensor<1x4x5x6xf32>) {
  %one = arith.constant 1.0 : f32
  %minus = arith.constant -0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %one : f32
  } : tensor<1x2x5x6xf32> to tensor<1x2x7x8xf32>
  %q = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %minus : f32
  } : tensor<1x2x5x6xf32> to tensor<1x2x7x8xf32>
  %e = tensor.empty() : tensor<1x4x5x6xf32>
  %s = linalg.fill ins(%minus : f32) outs(%e : tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %k : tensor<1x2x7x8xf32>, tensor<4x2x3x3xf32>)
    outs(%s : tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %z = linalg.conv_2d_nchw_fchw ins(%q, %k : tensor<1x2x7x8xf32>, tensor<4x2x3x3xf32>)
    outs(%s : tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%y : tensor<1x4x5x6xf32>) outs(%e : tensor<1x4x5x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %one : f32
    linalg.yield %m : f32
  } -> tensor<1x4x5x6xf32>
  return %r, %y, %z : tensor<1x4x5x6xf32>, tensor<1x4x5x6xf32>, tensor<1x4x5x6xf32>
}

// -----

// Padding of a window that is larger than a mask has bits stays, and so does that of a large one of each
// channel: neither tiles are for it, nor threads of their own.

// CHECK-LABEL: func.func @left(
// CHECK:         tensor.pad
// CHECK:         tensor.pad
// CHECK-NOT:     linalg.depthwise
// CHECK:         "hir.reduce_loops"
func.func @left(%x: tensor<1x2x40xf32>, %k: tensor<4x2x31xf32>, %i: tensor<1x2x9x9xf32>, %d: tensor<2x9x9xf32>)
    -> (tensor<1x4x12xf32>, tensor<1x2x9x9xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x2x40xf32> to tensor<1x2x42xf32>
  %e = tensor.empty() : tensor<1x4x12xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x12xf32>) -> tensor<1x4x12xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%p, %k : tensor<1x2x42xf32>, tensor<4x2x31xf32>)
    outs(%s : tensor<1x4x12xf32>) -> tensor<1x4x12xf32>
  %q = tensor.pad %i low[0, 0, 4, 4] high[0, 0, 4, 4] {
  ^bb0(%a: index, %b: index, %c: index, %f: index):
    tensor.yield %zero : f32
  } : tensor<1x2x9x9xf32> to tensor<1x2x17x17xf32>
  %g = tensor.empty() : tensor<1x2x9x9xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %z = linalg.depthwise_conv_2d_nchw_chw ins(%q, %d : tensor<1x2x17x17xf32>, tensor<2x9x9xf32>)
    outs(%h : tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  return %y, %z : tensor<1x4x12xf32>, tensor<1x2x9x9xf32>
}

// -----

// Elements that lie apart among zeros are read where they are, if what they lie in is zeros.

// CHECK-LABEL: func.func @apart_in_zeros(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x5xf32>, %[[K:.*]]: tensor<3x4x3xf32>
// CHECK:         tensor.insert_slice %[[X]]
// CHECK-NOT:     tensor.insert_slice
// CHECK:         linalg.generic
// CHECK:           arith.remui
// CHECK:           tensor.extract %[[X]]
// CHECK:         linalg.generic
// CHECK-NOT:       tensor.extract
// CHECK:         return
func.func @apart_in_zeros(%x: tensor<2x4x5xf32>, %k: tensor<3x4x3xf32>) -> (tensor<2x3x9xf32>, tensor<2x3x9xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2x4x11xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x11xf32>) -> tensor<2x4x11xf32>
  %g = linalg.fill ins(%one : f32) outs(%e : tensor<2x4x11xf32>) -> tensor<2x4x11xf32>
  %p = tensor.insert_slice %x into %f[0, 0, 1] [2, 4, 5] [1, 1, 2] : tensor<2x4x5xf32> into tensor<2x4x11xf32>
  %q = tensor.insert_slice %x into %g[0, 0, 1] [2, 4, 5] [1, 1, 2] : tensor<2x4x5xf32> into tensor<2x4x11xf32>
  %o = tensor.empty() : tensor<2x3x9xf32>
  %s = linalg.fill ins(%zero : f32) outs(%o : tensor<2x3x9xf32>) -> tensor<2x3x9xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%p, %k : tensor<2x4x11xf32>, tensor<3x4x3xf32>)
    outs(%s : tensor<2x3x9xf32>) -> tensor<2x3x9xf32>
  %z = linalg.conv_1d_ncw_fcw ins(%q, %k : tensor<2x4x11xf32>, tensor<3x4x3xf32>)
    outs(%s : tensor<2x3x9xf32>) -> tensor<2x3x9xf32>
  return %y, %z : tensor<2x3x9xf32>, tensor<2x3x9xf32>
}

// -----

// A depthwise convolution pads as it reads.

// CHECK-LABEL: func.func @depthwise(
// CHECK-NOT:     tensor.pad
// CHECK:         tensor.extract
// CHECK:         "hir.reduce_loops"
func.func @depthwise(%i: tensor<1x2x9x9xf32>, %d: tensor<2x3x3xf32>) -> tensor<1x2x9x9xf32> {
  %zero = arith.constant 0.0 : f32
  %q = tensor.pad %i low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %f: index):
    tensor.yield %zero : f32
  } : tensor<1x2x9x9xf32> to tensor<1x2x11x11xf32>
  %g = tensor.empty() : tensor<1x2x9x9xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %z = linalg.depthwise_conv_2d_nchw_chw ins(%q, %d : tensor<1x2x11x11xf32>, tensor<2x3x3xf32>)
    outs(%h : tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  return %z : tensor<1x2x9x9xf32>
}

// -----

// An image whose channels are last is read as it lies where results have them last; where these have
// them first, a copy lets neighbours read neighbours.

#last = affine_map<(n, h, w, c) -> (n, h, w, c)>
#first = affine_map<(n, h, w, c) -> (n, c, h, w)>

// CHECK-LABEL: func.func @last(
// CHECK-SAME:    %[[I:.*]]: tensor<1x9x9x2xf32>
// CHECK-NOT:     linalg.yield
// CHECK:         tensor.extract %[[I]]
// CHECK:         "hir.reduce_loops"
// CHECK-LABEL: func.func @first(
// CHECK-SAME:    %[[J:.*]]: tensor<1x9x9x2xf32>
// CHECK:         %[[COPY:.*]] = linalg.generic {{.*}} ins(%[[J]] :
// CHECK:         tensor.extract %[[COPY]]
// CHECK:         "hir.reduce_loops"
func.func @last(%i: tensor<1x9x9x2xf32>, %d: tensor<2x3x3xf32>) -> tensor<1x9x9x2xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<1x2x9x9xf32>
  %t = linalg.generic {indexing_maps = [#last, #first], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%i : tensor<1x9x9x2xf32>) outs(%r : tensor<1x2x9x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x2x9x9xf32>
  %q = tensor.pad %t low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %f: index):
    tensor.yield %zero : f32
  } : tensor<1x2x9x9xf32> to tensor<1x2x11x11xf32>
  %h = linalg.fill ins(%zero : f32) outs(%r : tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %z = linalg.depthwise_conv_2d_nchw_chw ins(%q, %d : tensor<1x2x11x11xf32>, tensor<2x3x3xf32>)
    outs(%h : tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %y = tensor.empty() : tensor<1x9x9x2xf32>
  %u = linalg.generic {indexing_maps = [#first, #last], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%z : tensor<1x2x9x9xf32>) outs(%y : tensor<1x9x9x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x9x9x2xf32>
  return %u : tensor<1x9x9x2xf32>
}
func.func @first(%i: tensor<1x9x9x2xf32>, %d: tensor<2x3x3xf32>) -> tensor<1x2x9x9xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<1x2x9x9xf32>
  %t = linalg.generic {indexing_maps = [#last, #first], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%i : tensor<1x9x9x2xf32>) outs(%r : tensor<1x2x9x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x2x9x9xf32>
  %q = tensor.pad %t low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %f: index):
    tensor.yield %zero : f32
  } : tensor<1x2x9x9xf32> to tensor<1x2x11x11xf32>
  %h = linalg.fill ins(%zero : f32) outs(%r : tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %z = linalg.depthwise_conv_2d_nchw_chw ins(%q, %d : tensor<1x2x11x11xf32>, tensor<2x3x3xf32>)
    outs(%h : tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  return %z : tensor<1x2x9x9xf32>
}

// -----

#all = affine_map<(m, n) -> (m, n)>

// Products of matrices are left to the library, or are tiles with what follows; small ones are not.

// CHECK-LABEL: func.func @products(
// CHECK:         linalg.matmul
// CHECK:         math.tanh
// CHECK:         linalg.matmul

// OWN-LABEL: func.func @products(
// OWN-NOT:     linalg.matmul
// OWN:         linalg.generic {{.*}}"reduction"]} {{.*}}hir.tiles
// OWN:           arith.mulf
// OWN-NEXT:      "hir.reduce_loops"
// OWN-NEXT:      math.tanh
// OWN:         linalg.matmul
func.func @products(%x: tensor<128x128xf32>, %w: tensor<8x128xf32>)
    -> (tensor<128x128xf32>, tensor<8x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %p = linalg.matmul ins(%x, %x : tensor<128x128xf32>, tensor<128x128xf32>)
    outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%p : tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.tanh %a : f32
    linalg.yield %v : f32
  } -> tensor<128x128xf32>
  %g = tensor.empty() : tensor<8x128xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<8x128xf32>) -> tensor<8x128xf32>
  %s = linalg.matmul ins(%w, %x : tensor<8x128xf32>, tensor<128x128xf32>)
    outs(%h : tensor<8x128xf32>) -> tensor<8x128xf32>
  return %t, %s : tensor<128x128xf32>, tensor<8x128xf32>
}

// -----

// A bias of fewer bits than the sums is extended where it is added; the tensor in which it is repeated
// is not written. Weights that are computed stay in memory.

// CHECK-LABEL: func.func @extended(
// CHECK-SAME:    %[[X:.*]]: tensor<1x2x5x6xbf16>, %[[K:.*]]: tensor<2xbf16>, %[[B:.*]]: tensor<4xbf16>
// CHECK:         %[[W:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[K]] :
// CHECK:           arith.negf
// CHECK:         linalg.generic {{.*}}"reduction"
// CHECK-SAME:      ins(%[[X]], %[[W]], %[[B]] :
// CHECK:           %[[SUM:.*]] = "hir.reduce_loops"
// CHECK:           arith.addf %[[SUM]]
// CHECK-NOT:     linalg.generic
func.func @extended(%x: tensor<1x2x5x6xbf16>, %k: tensor<2xbf16>, %b: tensor<4xbf16>) -> tensor<1x4x3x4xf32> {
  %e = tensor.empty() : tensor<1x4x3x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (f)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%b : tensor<4xbf16>) outs(%e : tensor<1x4x3x4xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<1x4x3x4xf32>
  %f = tensor.empty() : tensor<4x2x3x3xbf16>
  %v = linalg.generic {indexing_maps = [affine_map<(f, c, h, w) -> (c)>, affine_map<(f, c, h, w) -> (f, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%k : tensor<2xbf16>) outs(%f : tensor<4x2x3x3xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %m = arith.negf %a : bf16
    linalg.yield %m : bf16
  } -> tensor<4x2x3x3xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<1x2x5x6xbf16>, tensor<4x2x3x3xbf16>)
    outs(%s : tensor<1x4x3x4xf32>) -> tensor<1x4x3x4xf32>
  return %y : tensor<1x4x3x4xf32>
}

// -----

// Elements apart along a dim in which the window has one place are read where they are.

// CHECK-LABEL: func.func @apart_alone(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x3x5xf32>
// CHECK-NOT:     tensor.insert_slice
// CHECK:         linalg.generic
// CHECK:           arith.remui
// CHECK:           tensor.extract %[[X]]
// CHECK:         return
func.func @apart_alone(%x: tensor<2x4x3x5xf32>, %k: tensor<3x4x1x3xf32>) -> tensor<2x3x5x9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x5x11xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x5x11xf32>) -> tensor<2x4x5x11xf32>
  %p = tensor.insert_slice %x into %f[0, 0, 0, 1] [2, 4, 3, 5] [1, 1, 2, 2] : tensor<2x4x3x5xf32> into tensor<2x4x5x11xf32>
  %o = tensor.empty() : tensor<2x3x5x9xf32>
  %s = linalg.fill ins(%zero : f32) outs(%o : tensor<2x3x5x9xf32>) -> tensor<2x3x5x9xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %k : tensor<2x4x5x11xf32>, tensor<3x4x1x3xf32>)
    outs(%s : tensor<2x3x5x9xf32>) -> tensor<2x3x5x9xf32>
  return %y : tensor<2x3x5x9xf32>
}

// -----

// What follows a convolution writes to memory of the shape in which alone it is read.

// CHECK-LABEL: func.func @in_fewer_dims(
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<1x3x9xbf16>
// CHECK:         %[[OUT:.*]] = tensor.expand_shape %[[EMPTY]]
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%[[OUT]] : tensor<1x3x9x1xbf16>)
// CHECK:           arith.truncf
func.func @in_fewer_dims(%x: tensor<1x4x11x1xbf16>, %k: tensor<3x4x3x1xbf16>) -> tensor<1x3x9xbf16> {
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<1x3x9x1xf32>
  %s = linalg.fill ins(%zero : f32) outs(%o : tensor<1x3x9x1xf32>) -> tensor<1x3x9x1xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x4x11x1xbf16>, tensor<3x4x3x1xbf16>)
    outs(%s : tensor<1x3x9x1xf32>) -> tensor<1x3x9x1xf32>
  %e = tensor.empty() : tensor<1x3x9x1xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%y : tensor<1x3x9x1xf32>) outs(%e : tensor<1x3x9x1xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1x3x9x1xbf16>
  %c = tensor.collapse_shape %r [[0], [1], [2, 3]] : tensor<1x3x9x1xbf16> into tensor<1x3x9xbf16>
  return %c : tensor<1x3x9xbf16>
}

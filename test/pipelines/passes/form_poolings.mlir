// RUN: hirc-opt %s --split-input-file --normalize-tensor-operations --canonicalize --cse --fuse-tensor-operations --form-contractions --canonicalize --cse | FileCheck %s
// RUN: hirc-opt %s --split-input-file --normalize-tensor-operations --canonicalize --cse --fuse-tensor-operations --form-contractions --canonicalize --cse | FileCheck %s --check-prefix=ANY
// ANY: module
// ANY-NOT: linalg.pooling
// What a pooling of small windows pads is read in place, of any number of images.

// CHECK-LABEL: func.func @pooled(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x3x8x8xf32>
// CHECK-NOT:     tensor.pad
// CHECK:         linalg.generic
// CHECK:           %[[E:.*]] = scf.if
// CHECK:             tensor.extract %[[X]]
// CHECK:             scf.yield
// CHECK:           } else {
// CHECK-NEXT:        scf.yield %cst
// CHECK:           "hir.reduce_loops"(%[[E]]) {kind = "maximumf"
func.func @pooled(%x: tensor<?x3x8x8xf32>) -> tensor<?x3x8x8xf32> {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?x3x8x8xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<?x3x8x8xf32> to tensor<?x3x10x10xf32>
  %e = tensor.empty(%n) : tensor<?x3x8x8xf32>
  %s = linalg.fill ins(%least : f32) outs(%e : tensor<?x3x8x8xf32>) -> tensor<?x3x8x8xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<?x3x10x10xf32>, tensor<3x3xf32>) outs(%s : tensor<?x3x8x8xf32>) -> tensor<?x3x8x8xf32>
  return %y : tensor<?x3x8x8xf32>
}

// -----

// Of any sizes, and what is copied in another order of dims before and after.

// CHECK-LABEL: func.func @turned(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x3x?x?xf32>
// CHECK-DAG:     %[[H:.*]] = tensor.dim %[[X]], %c2
// CHECK-DAG:     %[[W:.*]] = tensor.dim %[[X]], %c3
// CHECK-NOT:     tensor.pad
// CHECK:         linalg.generic
// CHECK-DAG:       arith.cmpi ult, %{{.*}}, %[[H]]
// CHECK-DAG:       arith.cmpi ult, %{{.*}}, %[[W]]
// CHECK:           scf.if
// CHECK:             tensor.extract %[[X]]
// CHECK:           "hir.reduce_loops"
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @turned(%x: tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x3x?x?xf32>
  %h = tensor.dim %x, %c2 : tensor<?x3x?x?xf32>
  %w = tensor.dim %x, %c3 : tensor<?x3x?x?xf32>
  %hp = arith.addi %h, %c2 : index
  %wp = arith.addi %w, %c2 : index
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<?x3x?x?xf32> to tensor<?x3x?x?xf32>
  %et = tensor.empty(%n, %hp, %wp) : tensor<?x?x?x3xf32>
  %t = linalg.transpose ins(%p : tensor<?x3x?x?xf32>) outs(%et : tensor<?x?x?x3xf32>) permutation = [0, 2, 3, 1]
  %e = tensor.empty(%n, %h, %w) : tensor<?x?x?x3xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %y = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%t, %window : tensor<?x?x?x3xf32>, tensor<3x3xf32>) outs(%s : tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %er = tensor.empty(%n, %h, %w) : tensor<?x3x?x?xf32>
  %r = linalg.transpose ins(%y : tensor<?x?x?x3xf32>) outs(%er : tensor<?x3x?x?xf32>) permutation = [0, 3, 1, 2]
  return %r : tensor<?x3x?x?xf32>
}

// -----

// Of one image too, of which a copy has no loop.

// CHECK-LABEL: func.func @turned_one(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x3x9x9xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[X]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @turned_one(%x: tensor<1x3x9x9xf32>) -> tensor<1x3x7x7xf32> {
  %least = arith.constant 0xFF800000 : f32
  %et = tensor.empty() : tensor<1x9x9x3xf32>
  %t = linalg.transpose ins(%x : tensor<1x3x9x9xf32>) outs(%et : tensor<1x9x9x3xf32>) permutation = [0, 2, 3, 1]
  %e = tensor.empty() : tensor<1x7x7x3xf32>
  %s = linalg.fill ins(%least : f32) outs(%e : tensor<1x7x7x3xf32>) -> tensor<1x7x7x3xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %y = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%t, %window : tensor<1x9x9x3xf32>, tensor<3x3xf32>) outs(%s : tensor<1x7x7x3xf32>) -> tensor<1x7x7x3xf32>
  %er = tensor.empty() : tensor<1x3x7x7xf32>
  %r = linalg.transpose ins(%y : tensor<1x7x7x3xf32>) outs(%er : tensor<1x3x7x7xf32>) permutation = [0, 3, 1, 2]
  return %r : tensor<1x3x7x7xf32>
}

// -----

// A copy by which neighbours of the result lie together stays.

// CHECK-LABEL: func.func @laid_together(
// CHECK-COUNT-2: linalg.generic
func.func @laid_together(%x: tensor<2x64x9x9xf32>) -> tensor<2x7x7x64xf32> {
  %least = arith.constant 0xFF800000 : f32
  %et = tensor.empty() : tensor<2x9x9x64xf32>
  %t = linalg.transpose ins(%x : tensor<2x64x9x9xf32>) outs(%et : tensor<2x9x9x64xf32>) permutation = [0, 2, 3, 1]
  %e = tensor.empty() : tensor<2x7x7x64xf32>
  %s = linalg.fill ins(%least : f32) outs(%e : tensor<2x7x7x64xf32>) -> tensor<2x7x7x64xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %y = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%t, %window : tensor<2x9x9x64xf32>, tensor<3x3xf32>) outs(%s : tensor<2x7x7x64xf32>) -> tensor<2x7x7x64xf32>
  return %y : tensor<2x7x7x64xf32>
}

// -----

// Of all that a thread computes by itself; and what no window reaches is not cut off in memory.

// CHECK-LABEL: func.func @cut(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x3x8x10x12xf32>
// CHECK-NOT:     tensor.pad
// CHECK:         linalg.generic
// CHECK:           scf.if
// CHECK:             tensor.extract %[[X]]
// CHECK:           "hir.reduce_loops"
func.func @cut(%x: tensor<2x3x8x10x12xf32>) -> tensor<2x3x3x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 2, 2, 2] high[0, 0, 2, 2, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index, %m: index):
    tensor.yield %zero : f32
  } : tensor<2x3x8x10x12xf32> to tensor<2x3x12x14x16xf32>
  %c = tensor.extract_slice %p[0, 0, 1, 0, 0] [2, 3, 11, 13, 16] [1, 1, 1, 1, 1] : tensor<2x3x12x14x16xf32> to tensor<2x3x11x13x16xf32>
  %d = tensor.extract_slice %c[0, 0, 1, 2, 3] [2, 3, 9, 11, 13] [1, 1, 1, 1, 1] : tensor<2x3x11x13x16xf32> to tensor<2x3x9x11x13xf32>
  %e = tensor.empty() : tensor<2x3x3x4x5xf32>
  %w = tensor.empty() : tensor<5x5x5xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x3x4x5xf32>) -> tensor<2x3x3x4x5xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(n, c, i, j, k, u, v, w) -> (n, c, i * 2 + u, j * 2 + v, k * 2 + w)>,
                       affine_map<(n, c, i, j, k, u, v, w) -> (u, v, w)>,
                       affine_map<(n, c, i, j, k, u, v, w) -> (n, c, i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction"]}
      ins(%d, %w : tensor<2x3x9x11x13xf32>, tensor<5x5x5xf32>) outs(%s : tensor<2x3x3x4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x3x3x4x5xf32>
  return %y : tensor<2x3x3x4x5xf32>
}

// -----

// Not of parts with steps, or that begin where only the run knows.

// CHECK-LABEL: func.func @not_cut(
// CHECK-COUNT-2: tensor.pad
func.func @not_cut(%x: tensor<3x24x24xf32>, %at: index) -> (tensor<3x11x11xf32>, tensor<3x11x11xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %least : f32
  } : tensor<3x24x24xf32> to tensor<3x26x26xf32>
  %q = tensor.pad %x low[0, 1, 0] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %least : f32
  } : tensor<3x24x24xf32> to tensor<3x25x25xf32>
  %steps = tensor.extract_slice %p[0, 0, 0] [3, 13, 13] [1, 2, 2] : tensor<3x26x26xf32> to tensor<3x13x13xf32>
  %open = tensor.extract_slice %q[0, %at, 0] [3, 13, 13] [1, 1, 1] : tensor<3x25x25xf32> to tensor<3x13x13xf32>
  %e = tensor.empty() : tensor<3x11x11xf32>
  %s = linalg.fill ins(%least : f32) outs(%e : tensor<3x11x11xf32>) -> tensor<3x11x11xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %a = linalg.generic {
      indexing_maps = [affine_map<(c, i, j, u, v) -> (c, i + u, j + v)>, affine_map<(c, i, j, u, v) -> (u, v)>,
                       affine_map<(c, i, j, u, v) -> (c, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%steps, %w : tensor<3x13x13xf32>, tensor<3x3xf32>) outs(%s : tensor<3x11x11xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %r = arith.maximumf %u, %o : f32
    linalg.yield %r : f32
  } -> tensor<3x11x11xf32>
  %b = linalg.generic {
      indexing_maps = [affine_map<(c, i, j, u, v) -> (c, i + u, j + v)>, affine_map<(c, i, j, u, v) -> (u, v)>,
                       affine_map<(c, i, j, u, v) -> (c, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%open, %w : tensor<3x13x13xf32>, tensor<3x3xf32>) outs(%s : tensor<3x11x11xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %r = arith.maximumf %u, %o : f32
    linalg.yield %r : f32
  } -> tensor<3x11x11xf32>
  return %a, %b : tensor<3x11x11xf32>, tensor<3x11x11xf32>
}

// -----

// Not of windows that no thread keeps, which are reductions all the same, nor what is padded with
// what only the run knows, or by as much.

// CHECK-LABEL: func.func @not_pooled(
// CHECK-COUNT-3: tensor.pad
func.func @not_pooled(%x: tensor<1x3x24x24xf32>, %y: tensor<1x3x8x?xf32>, %v: f32, %by: index) -> (tensor<1x3x3x4xf32>, tensor<1x3x8x?xf32>, tensor<1x3x24x24xf32>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %least = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<1x3x24x24xf32> to tensor<1x3x25x25xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %s = linalg.fill ins(%least : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %w = tensor.empty() : tensor<13x10xf32>
  %a = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<5> : tensor<2xi64>}
      ins(%p, %w : tensor<1x3x25x25xf32>, tensor<13x10xf32>) outs(%s : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %n = tensor.dim %y, %c3 : tensor<1x3x8x?xf32>
  %q = tensor.pad %y low[0, 0, 1, 1] high[0, 0, 1, %by] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<1x3x8x?xf32> to tensor<1x3x10x?xf32>
  %eq = tensor.empty(%n) : tensor<1x3x8x?xf32>
  %sq = linalg.fill ins(%least : f32) outs(%eq : tensor<1x3x8x?xf32>) -> tensor<1x3x8x?xf32>
  %three = tensor.empty() : tensor<3x3xf32>
  %b = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%q, %three : tensor<1x3x10x?xf32>, tensor<3x3xf32>) outs(%sq : tensor<1x3x8x?xf32>) -> tensor<1x3x8x?xf32>
  %r = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %v : f32
  } : tensor<1x3x24x24xf32> to tensor<1x3x26x26xf32>
  %er = tensor.empty() : tensor<1x3x24x24xf32>
  %sr = linalg.fill ins(%least : f32) outs(%er : tensor<1x3x24x24xf32>) -> tensor<1x3x24x24xf32>
  %c = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%r, %three : tensor<1x3x26x26xf32>, tensor<3x3xf32>) outs(%sr : tensor<1x3x24x24xf32>) -> tensor<1x3x24x24xf32>
  return %a, %b, %c : tensor<1x3x3x4xf32>, tensor<1x3x8x?xf32>, tensor<1x3x24x24xf32>
}

// -----

// Large windows that overlap are reduced along one dim after the other, the first time from what is
// padded in place; 16 bits are added up in f32, which is kept in between.

// CHECK-LABEL: func.func @along_each(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<?x3x24x24xbf16>
// CHECK-NOT:     tensor.pad
// CHECK:         %[[ROWS:.*]] = linalg.generic
// CHECK:           tensor.extract %[[X]]
// CHECK:           "hir.reduce_loops"({{.*}}) {kind = "addf", loops = array<i64: 4>}
// CHECK:         } -> tensor<?x3x36x24xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[ROWS]]
// CHECK:           "hir.reduce_loops"({{.*}}) {kind = "addf", loops = array<i64: 4>}
// CHECK:           arith.truncf
// CHECK:         } -> tensor<?x3x24x24xbf16>
func.func @along_each(%x: tensor<?x3x24x24xbf16>) -> tensor<?x3x24x24xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %n = tensor.dim %x, %c0 : tensor<?x3x24x24xbf16>
  %p = tensor.pad %x low[0, 0, 6, 6] high[0, 0, 6, 6] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<?x3x24x24xbf16> to tensor<?x3x36x36xbf16>
  %e = tensor.empty(%n) : tensor<?x3x24x24xbf16>
  %s = linalg.fill ins(%zero : bf16) outs(%e : tensor<?x3x24x24xbf16>) -> tensor<?x3x24x24xbf16>
  %w = tensor.empty() : tensor<13x13xbf16>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<?x3x36x36xbf16>, tensor<13x13xbf16>) outs(%s : tensor<?x3x24x24xbf16>) -> tensor<?x3x24x24xbf16>
  return %y : tensor<?x3x24x24xbf16>
}

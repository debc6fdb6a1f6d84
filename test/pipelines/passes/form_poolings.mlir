// RUN: hirc-opt %s --split-input-file --normalize-tensor-operations --canonicalize --cse --fuse-tensor-operations --form-contractions --canonicalize --cse | FileCheck %s
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

// Not of windows that no thread keeps, of an open width, nor what is padded with what only the run
// knows.

// CHECK-LABEL: func.func @not_pooled(
// CHECK-COUNT-3: tensor.pad
func.func @not_pooled(%x: tensor<1x3x24x24xf32>, %y: tensor<1x3x8x?xf32>, %v: f32) -> (tensor<1x3x16x16xf32>, tensor<1x3x8x?xf32>, tensor<1x3x24x24xf32>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %least = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<1x3x24x24xf32> to tensor<1x3x25x25xf32>
  %e = tensor.empty() : tensor<1x3x16x16xf32>
  %s = linalg.fill ins(%least : f32) outs(%e : tensor<1x3x16x16xf32>) -> tensor<1x3x16x16xf32>
  %w = tensor.empty() : tensor<10x10xf32>
  %a = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<1x3x25x25xf32>, tensor<10x10xf32>) outs(%s : tensor<1x3x16x16xf32>) -> tensor<1x3x16x16xf32>
  %n = tensor.dim %y, %c3 : tensor<1x3x8x?xf32>
  %q = tensor.pad %y low[0, 0, 1, 1] high[0, 0, 1, 1] {
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
  return %a, %b, %c : tensor<1x3x16x16xf32>, tensor<1x3x8x?xf32>, tensor<1x3x24x24xf32>
}

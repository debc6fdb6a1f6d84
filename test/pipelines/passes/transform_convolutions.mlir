// RUN: hirc-opt %s --split-input-file --transform-convolutions=chips=sm_90a --canonicalize --cse | FileCheck %s
// Large convolutions in f32 become products of what is transformed.

// CHECK-DAG:   #[[TILED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d1, d0, d2 floordiv 4, d3 floordiv 4)>
// CHECK-DAG:   #[[REST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2 mod 4, d3 mod 4)>
// CHECK-LABEL: func.func @padded(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x64x58x57xf32>, %[[W:[^:]*]]: tensor<96x64x3x3xf32>, %[[B:[^:]*]]: tensor<96xf32>
// What is padded is read in place, beyond its end too.
// CHECK-NOT:     tensor.pad
// CHECK:         %[[T:.*]] = linalg.generic
// CHECK:           scf.if
// CHECK:             tensor.extract %[[X]]
// CHECK-COUNT-2:   "hir.matrix_element"({{.*}}) {matrix = dense<{{.*}}> : tensor<6x6xf32>}
// CHECK:           "hir.reduce_loops"({{.*}}) {kind = "addf", loops = array<i64: 6, 7>}
// CHECK:         } -> tensor<6x6x64x8x15x15xf32>
// CHECK:         %[[U:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<96x64x3x3xf32>)
// CHECK-COUNT-2:   "hir.matrix_element"({{.*}}) {matrix = dense<{{.*}}> : tensor<6x3xf32>}
// CHECK:         } -> tensor<6x6x96x64xf32>
// CHECK:         %[[V:.*]] = tensor.collapse_shape %[[T]] {{.*}} into tensor<36x64x1800xf32>
// CHECK:         %[[F:.*]] = tensor.collapse_shape %[[U]] {{.*}} into tensor<36x96x64xf32>
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[F]], %[[V]] : {{.*}}) outs
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[P]] {{.*}} into tensor<6x6x96x8x15x15xf32>
// The bias, and the greatest of it and 0, are of the operation that makes results.
// CHECK:         %[[Y:.*]] = linalg.generic {indexing_maps = [#[[TILED]], #{{.*}}, #[[REST]], #{{.*}}]
// CHECK-SAME:      ins(%[[E]], %[[B]], %{{.*}} :
// CHECK-COUNT-2:   "hir.matrix_element"({{.*}}) {matrix = dense<{{.*}}> : tensor<4x6xf32>}
// CHECK:           "hir.reduce_loops"
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      arith.maximumf
// CHECK:         return %[[Y]]
func.func @padded(%x: tensor<8x64x58x57xf32>, %w: tensor<96x64x3x3xf32>, %b: tensor<96xf32>)
    -> tensor<8x96x58x57xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<8x64x58x57xf32> to tensor<8x64x60x59xf32>
  %e = tensor.empty() : tensor<8x96x58x57xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (f)>,
                                        affine_map<(n, f, h, w) -> (n, f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : tensor<96xf32>) outs(%e : tensor<8x96x58x57xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<8x96x58x57xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<8x64x60x59xf32>, tensor<96x64x3x3xf32>)
      outs(%s : tensor<8x96x58x57xf32>) -> tensor<8x96x58x57xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>,
                                        affine_map<(n, f, h, w) -> (n, f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<8x96x58x57xf32>) outs(%e : tensor<8x96x58x57xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.maximumf %v, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x96x58x57xf32>
  return %r : tensor<8x96x58x57xf32>
}

// -----

// Where channels are last, they are a matrix's rows, and tiles' its columns.

// CHECK-LABEL: func.func @channels_last(
// CHECK:         tensor.collapse_shape {{.*}} into tensor<36x1568x64xf32>
// CHECK:         tensor.collapse_shape {{.*}} into tensor<36x64x96xf32>
// CHECK:         tensor.expand_shape {{.*}} into tensor<6x6x8x14x14x96xf32>
func.func @channels_last(%x: tensor<8x58x58x64xf32>, %w: tensor<96x3x3x64xf32>)
    -> tensor<8x56x56x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x56x56x96xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<8x56x56x96xf32>) -> tensor<8x56x56x96xf32>
  %y = linalg.conv_2d_nhwc_fhwc ins(%x, %w : tensor<8x58x58x64xf32>, tensor<96x3x3x64xf32>)
      outs(%s : tensor<8x56x56x96xf32>) -> tensor<8x56x56x96xf32>
  return %y : tensor<8x56x56x96xf32>
}

// -----

// Steps of 2, other elements, and few products stay as they are.

// CHECK-LABEL: func.func @others(
// CHECK-NOT:     hir.matrix_element
func.func @others(%x: tensor<8x64x58x58xf32>, %w: tensor<96x64x3x3xf32>,
                  %h: tensor<8x64x58x58xf16>, %v: tensor<96x64x3x3xf16>, %few: tensor<1x8x58x58xf32>,
                  %u: tensor<8x8x3x3xf32>)
    -> (tensor<8x96x28x28xf32>, tensor<8x96x56x56xf16>, tensor<1x8x56x56xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x96x28x28xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<8x96x28x28xf32>) -> tensor<8x96x28x28xf32>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<8x64x58x58xf32>, tensor<96x64x3x3xf32>)
      outs(%s : tensor<8x96x28x28xf32>) -> tensor<8x96x28x28xf32>
  %half = arith.constant 0.0 : f16
  %eh = tensor.empty() : tensor<8x96x56x56xf16>
  %sh = linalg.fill ins(%half : f16) outs(%eh : tensor<8x96x56x56xf16>) -> tensor<8x96x56x56xf16>
  %yh = linalg.conv_2d_nchw_fchw ins(%h, %v : tensor<8x64x58x58xf16>, tensor<96x64x3x3xf16>)
      outs(%sh : tensor<8x96x56x56xf16>) -> tensor<8x96x56x56xf16>
  %ef = tensor.empty() : tensor<1x8x56x56xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%ef : tensor<1x8x56x56xf32>) -> tensor<1x8x56x56xf32>
  %yf = linalg.conv_2d_nchw_fchw ins(%few, %u : tensor<1x8x58x58xf32>, tensor<8x8x3x3xf32>)
      outs(%sf : tensor<1x8x56x56xf32>) -> tensor<1x8x56x56xf32>
  return %y, %yh, %yf : tensor<8x96x28x28xf32>, tensor<8x96x56x56xf16>, tensor<1x8x56x56xf32>
}

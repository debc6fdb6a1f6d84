// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// Filters of 3 x 3 on channels second.
// CHECK: "hir.library_convolution"({{.*}}{compute = "f32", dilations = array<i64: 1, 1>,
func.func @valid_0(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// Steps, padding, dilation and groups; channels last, and of open sizes.
// CHECK: "hir.library_convolution"({{.*}}groups = 2 : i64
func.func @valid_1(%x: memref<?x?x9x4xf16>, %w: memref<6x3x3x2xf16>, %y: memref<?x?x4x6xf16>) {
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 3>, dims = [array<i64: 0, 2, 3, 1>, array<i64: 0, 2, 3, 1>, array<i64: 0, 2, 3, 1>], direction = "forward", groups = 2 : i64, padding = array<i64: 1, 2>, strides = array<i64: 2, 2>} : (memref<?x?x9x4xf16>, memref<6x3x3x2xf16>, memref<?x?x4x6xf16>) -> ()
  return
}

// The gradient of an image along one dim, with groups in dims of their own and a dim that is none.
// CHECK: "hir.library_convolution"({{.*}}direction = "data_gradient"
func.func @valid_2(%x: memref<8x2x3x5xbf16>, %w: memref<6x1x4x4xbf16>, %y: memref<8x2x4x12xbf16>) {
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1>, dims = [array<i64: 0, 1, 1, 2>, array<i64: 0, -1, 1, 2>, array<i64: 0, 1, 1, 2>], direction = "data_gradient", groups = 2 : i64, padding = array<i64: 0>, strides = array<i64: 2>} : (memref<8x2x3x5xbf16>, memref<6x1x4x4xbf16>, memref<8x2x4x12xbf16>) -> ()
  return
}

// What is multiplied may be rounded, or transformed; an image that is not padded has more than is read.
// CHECK: "hir.library_convolution"({{.*}}, transforms}
func.func @valid_3(%x: memref<8x4x11x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x5x4xf32>) {
  "hir.library_convolution"(%x, %w, %y) {compute = "tf32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 2, 2>, transforms} : (memref<8x4x11x9xf32>, memref<6x4x3x3xf32>, memref<8x6x5x4xf32>) -> ()
  return
}

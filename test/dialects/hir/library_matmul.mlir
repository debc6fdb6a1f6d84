// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%a: memref<?x4xf16>, %b: memref<4x2xf16>, %t: memref<2x4xf16>, %c: memref<?x2xf16>,
                 %wide: memref<?x2xf32>, %bias: memref<2xf16>, %x: memref<1x3x4xf32>, %y: memref<5x4x2xf32>,
                 %z: memref<5x3x2xf32>, %d: memref<?x2xf16>) {
  // CHECK: "hir.library_matmul"(%{{.*}}) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
  // CHECK-SAME: : (memref<?x4xf16>, memref<4x2xf16>, memref<?x2xf16>) -> ()
  "hir.library_matmul"(%a, %b, %c) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<?x4xf16>, memref<4x2xf16>, memref<?x2xf16>) -> ()
  // CHECK: "hir.library_matmul"(%{{.*}}, %{{.*}}, %[[WIDE:.*]], %[[WIDE]]) {compute = "f32"
  "hir.library_matmul"(%a, %t, %wide, %wide) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 1, 2>, array<i64: 0, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>} : (memref<?x4xf16>, memref<2x4xf16>, memref<?x2xf32>, memref<?x2xf32>) -> ()
  // A bias and an addend.
  // CHECK: "hir.library_matmul"(%{{.*}}) {activation = "relu", compute = "f32"
  "hir.library_matmul"(%a, %b, %c, %bias, %d) {activation = "relu", compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>} : (memref<?x4xf16>, memref<4x2xf16>, memref<?x2xf16>, memref<2xf16>, memref<?x2xf16>) -> ()
  // CHECK: "hir.library_matmul"(%{{.*}}) {activation = "gelu_tanh", compute = "f32", dims = [{{.*}}, array<i64: 1>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}
  "hir.library_matmul"(%a, %b, %c, %bias) {activation = "gelu_tanh", compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 1>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (memref<?x4xf16>, memref<4x2xf16>, memref<?x2xf16>, memref<2xf16>) -> ()
  // A batch that repeats the first operand.
  // CHECK: array<i64: -1, 1, 3>
  "hir.library_matmul"(%x, %y, %z) {compute = "tf32", dims = [array<i64: -1, 1, 3>, array<i64: 0, 3, 2>, array<i64: 0, 1, 2>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<1x3x4xf32>, memref<5x4x2xf32>, memref<5x3x2xf32>) -> ()
  return
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<?x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<2xf32>, %y: memref<?x2xf32, strided<[?, ?], offset: ?>>) {
  // CHECK: %{{.*}} = "hir.linear"(%{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (memref<?x4xf16>, memref<2x4xf16>) -> memref<?x2xf16>
  %0 = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (memref<?x4xf16>, memref<2x4xf16>) -> memref<?x2xf16>
  // CHECK: %{{.*}} = "hir.linear"(%{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<?x4xf16>, memref<2x4xf16>, memref<2xf16>) -> memref<?x2xf16>
  %1 = "hir.linear"(%x, %w, %b) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<?x4xf16>, memref<2x4xf16>, memref<2xf16>) -> memref<?x2xf16>
  // CHECK: "hir.linear"(%{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 0, 1>} : (memref<?x4xf16>, memref<2x4xf16>, memref<?x2xf32, strided<[?, ?], offset: ?>>) -> ()
  "hir.linear"(%x, %w, %y) {operandSegmentSizes = array<i32: 1, 1, 0, 1>} : (memref<?x4xf16>, memref<2x4xf16>, memref<?x2xf32, strided<[?, ?], offset: ?>>) -> ()
  // CHECK: "hir.linear"(%{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (memref<?x4xf16>, memref<2x4xf16>, memref<2xf32>, memref<?x2xf32, strided<[?, ?], offset: ?>>) -> ()
  "hir.linear"(%x, %w, %c, %y) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (memref<?x4xf16>, memref<2x4xf16>, memref<2xf32>, memref<?x2xf32, strided<[?, ?], offset: ?>>) -> ()
  return
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<8x4xf32>, %o: memref<?x?x4xf32>) {
  // CHECK: %{{.*}} = "hir.permute"(%{{.*}}) {order = array<i64: 1, 0>} : (memref<8x4xf32>) -> memref<4x8xf32, strided<[1, 4]>>
  %0 = "hir.permute"(%x) {order = array<i64: 1, 0>} : (memref<8x4xf32>) -> memref<4x8xf32, strided<[1, 4]>>
  // CHECK: %{{.*}} = "hir.permute"(%{{.*}}) {order = array<i64: 0, 1, 2>} : (memref<?x?x4xf32>) -> memref<?x?x4xf32>
  %1 = "hir.permute"(%o) {order = array<i64: 0, 1, 2>} : (memref<?x?x4xf32>) -> memref<?x?x4xf32>
  // CHECK: %{{.*}} = "hir.permute"(%{{.*}}) {order = array<i64: 2, 0, 1>} : (memref<?x?x4xf32>) -> memref<4x?x?xf32, strided<[1, ?, 4]>>
  %2 = "hir.permute"(%o) {order = array<i64: 2, 0, 1>} : (memref<?x?x4xf32>) -> memref<4x?x?xf32, strided<[1, ?, 4]>>
  // CHECK: %{{.*}} = "hir.permute"(%{{.*}}) {order = array<i64: 1, 0>} : (memref<8x4xf32>) -> memref<4x8xf32, strided<[?, ?], offset: ?>>
  %3 = "hir.permute"(%x) {order = array<i64: 1, 0>} : (memref<8x4xf32>) -> memref<4x8xf32, strided<[?, ?], offset: ?>>
  return
}

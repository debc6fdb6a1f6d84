// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<8x4xf32>, %o: memref<?x?xf32, strided<[?, ?], offset: ?>>, %i: index) {
  %c2 = arith.constant 2 : index
  // CHECK: %{{.*}} = "hir.select"(%{{.*}}) {axis = 0 : i64} : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  %0 = "hir.select"(%x, %i) {axis = 0 : i64} : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  // CHECK: %{{.*}} = "hir.select"(%{{.*}}) {axis = 1 : i64} : (memref<8x4xf32>, index) -> memref<8xf32, strided<[4], offset: 2>>
  %1 = "hir.select"(%x, %c2) {axis = 1 : i64} : (memref<8x4xf32>, index) -> memref<8xf32, strided<[4], offset: 2>>
  // CHECK: %{{.*}} = "hir.select"(%{{.*}}) {axis = 1 : i64} : (memref<?x?xf32, strided<[?, ?], offset: ?>>, index) -> memref<?xf32, strided<[?], offset: ?>>
  %2 = "hir.select"(%o, %i) {axis = 1 : i64} : (memref<?x?xf32, strided<[?, ?], offset: ?>>, index) -> memref<?xf32, strided<[?], offset: ?>>
  return
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<8x4xf32>, %i: index, %j: index, %o: memref<?x4xf32>) {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  // CHECK: %{{.*}} = "hir.slice"(%{{.*}}) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  %0 = "hir.slice"(%x, %i, %j) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  // CHECK: %{{.*}} = "hir.slice"(%{{.*}}) {axis = 0 : i64, step = 2 : i64} : (memref<8x4xf32>, index, index) -> memref<4x4xf32, strided<[8, 1], offset: ?>>
  %1 = "hir.slice"(%x, %i, %j) {axis = 0 : i64, step = 2 : i64} : (memref<8x4xf32>, index, index) -> memref<4x4xf32, strided<[8, 1], offset: ?>>
  // CHECK: %{{.*}} = "hir.slice"(%{{.*}}) {axis = 0 : i64, step = 4 : i64} : (memref<8x4xf32>, index, index) -> memref<2x4xf32, strided<[16, 1], offset: 4>>
  %2 = "hir.slice"(%x, %c1, %c7) {axis = 0 : i64, step = 4 : i64} : (memref<8x4xf32>, index, index) -> memref<2x4xf32, strided<[16, 1], offset: 4>>
  // CHECK: %{{.*}} = "hir.slice"(%{{.*}}) {axis = 0 : i64} : (memref<?x4xf32>, index, index) -> memref<6x4xf32, strided<[4, 1], offset: 4>>
  %3 = "hir.slice"(%o, %c1, %c7) {axis = 0 : i64} : (memref<?x4xf32>, index, index) -> memref<6x4xf32, strided<[4, 1], offset: 4>>
  // CHECK: %{{.*}} = "hir.slice"(%{{.*}}) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<0x4xf32, strided<[4, 1], offset: 4>>
  %4 = "hir.slice"(%x, %c1, %c1) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<0x4xf32, strided<[4, 1], offset: 4>>
  return
}

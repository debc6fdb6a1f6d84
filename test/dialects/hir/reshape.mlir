// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<8x4xf32>, %t: memref<8x6xf32, strided<[1, 8]>>, %g: memref<?x4xf32, strided<[8, 1], offset: ?>>, %u: memref<?x4xf32, strided<[?, ?]>>, %n: index) {
  // CHECK: %{{.*}} = "hir.reshape"(%{{.*}}) : (memref<8x4xf32>) -> memref<32xf32>
  %0 = "hir.reshape"(%x) : (memref<8x4xf32>) -> memref<32xf32>
  // CHECK: %{{.*}} = "hir.reshape"(%{{.*}}) : (memref<8x4xf32>, index) -> memref<2x?x4xf32>
  %1 = "hir.reshape"(%x, %n) : (memref<8x4xf32>, index) -> memref<2x?x4xf32>
  // CHECK: %{{.*}} = "hir.reshape"(%{{.*}}) : (memref<8x6xf32, strided<[1, 8]>>) -> memref<2x4x2x3xf32, strided<[4, 1, 24, 8]>>
  %2 = "hir.reshape"(%t) : (memref<8x6xf32, strided<[1, 8]>>) -> memref<2x4x2x3xf32, strided<[4, 1, 24, 8]>>
  // CHECK: %{{.*}} = "hir.reshape"(%{{.*}}) : (memref<?x4xf32, strided<[8, 1], offset: ?>>, index) -> memref<?x2x2xf32, strided<[8, 2, 1], offset: ?>>
  %3 = "hir.reshape"(%g, %n) : (memref<?x4xf32, strided<[8, 1], offset: ?>>, index) -> memref<?x2x2xf32, strided<[8, 2, 1], offset: ?>>
  // CHECK: %{{.*}} = "hir.reshape"(%{{.*}}) : (memref<?x4xf32, strided<[?, ?]>>, index) -> memref<?x2x2xf32, strided<[?, ?, ?]>>
  %4 = "hir.reshape"(%u, %n) : (memref<?x4xf32, strided<[?, ?]>>, index) -> memref<?x2x2xf32, strided<[?, ?, ?]>>
  return
}

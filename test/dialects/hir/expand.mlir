// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%b: memref<64xf32>, %c: memref<8x1xf32>, %o: memref<?xf32>, %n: index) {
  // CHECK: %{{.*}} = "hir.expand"(%{{.*}}) : (memref<64xf32>, index) -> memref<?x64xf32, strided<[0, 1]>>
  %0 = "hir.expand"(%b, %n) : (memref<64xf32>, index) -> memref<?x64xf32, strided<[0, 1]>>
  // CHECK: %{{.*}} = "hir.expand"(%{{.*}}) : (memref<8x1xf32>) -> memref<3x8x5xf32, strided<[0, 1, 0]>>
  %1 = "hir.expand"(%c) : (memref<8x1xf32>) -> memref<3x8x5xf32, strided<[0, 1, 0]>>
  // CHECK: %{{.*}} = "hir.expand"(%{{.*}}) : (memref<?xf32>) -> memref<4xf32, strided<[?]>>
  %2 = "hir.expand"(%o) : (memref<?xf32>) -> memref<4xf32, strided<[?]>>
  // CHECK: %{{.*}} = "hir.expand"(%{{.*}}) : (memref<8x1xf32>) -> memref<8x1xf32>
  %3 = "hir.expand"(%c) : (memref<8x1xf32>) -> memref<8x1xf32>
  return
}

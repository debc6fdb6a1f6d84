// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %p: memref<?x1x8x?xbf16>, %q: memref<3x4x2xbf16>, %i: memref<4x4xi8>, %c: memref<8x2xf32, strided<[1, 8]>>) {
  // CHECK: %{{.*}} = "hir.matmul"(%{{.*}}) : (memref<8x4xf32>, memref<4x2xf32>) -> memref<8x2xf32>
  %0 = "hir.matmul"(%a, %b) : (memref<8x4xf32>, memref<4x2xf32>) -> memref<8x2xf32>
  // CHECK: %{{.*}} = "hir.matmul"(%{{.*}}) : (memref<?x1x8x?xbf16>, memref<3x4x2xbf16>) -> memref<?x3x8x2xf32>
  %1 = "hir.matmul"(%p, %q) : (memref<?x1x8x?xbf16>, memref<3x4x2xbf16>) -> memref<?x3x8x2xf32>
  // CHECK: %{{.*}} = "hir.matmul"(%{{.*}}) : (memref<4x4xi8>, memref<4x4xi8>) -> memref<4x4xi32>
  %2 = "hir.matmul"(%i, %i) : (memref<4x4xi8>, memref<4x4xi8>) -> memref<4x4xi32>
  // CHECK: "hir.matmul"(%{{.*}}) : (memref<8x4xf32>, memref<4x2xf32>, memref<8x2xf32, strided<[1, 8]>>) -> ()
  "hir.matmul"(%a, %b, %c) : (memref<8x4xf32>, memref<4x2xf32>, memref<8x2xf32, strided<[1, 8]>>) -> ()
  return
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<?x64xf32>, %bias: memref<64xf32>, %s: f64, %y: memref<8x1xi32>, %z: memref<3xi32>, %n: index, %d: memref<8x3xi1, strided<[1, 8]>>) {
  // CHECK: %{{.*}} = "hir.binary"(%{{.*}}) {kind = "add"} : (memref<?x64xf32>, memref<64xf32>) -> memref<?x64xf32>
  %0 = "hir.binary"(%x, %bias) {kind = "add"} : (memref<?x64xf32>, memref<64xf32>) -> memref<?x64xf32>
  // CHECK: %{{.*}} = "hir.binary"(%{{.*}}) {kind = "sub"} : (f64, memref<?x64xf32>) -> memref<?x64xf32>
  %1 = "hir.binary"(%s, %x) {kind = "sub"} : (f64, memref<?x64xf32>) -> memref<?x64xf32>
  // CHECK: %{{.*}} = "hir.binary"(%{{.*}}) {kind = "floordiv"} : (memref<8x1xi32>, memref<3xi32>) -> memref<8x3xi32>
  %2 = "hir.binary"(%y, %z) {kind = "floordiv"} : (memref<8x1xi32>, memref<3xi32>) -> memref<8x3xi32>
  // CHECK: "hir.binary"(%{{.*}}) {kind = "lt"} : (memref<8x1xi32>, memref<3xi32>, memref<8x3xi1, strided<[1, 8]>>) -> ()
  "hir.binary"(%y, %z, %d) {kind = "lt"} : (memref<8x1xi32>, memref<3xi32>, memref<8x3xi1, strided<[1, 8]>>) -> ()
  // CHECK: "hir.binary"(%{{.*}}) {kind = "mul"} : (index, index, memref<3xi32>) -> ()
  "hir.binary"(%n, %n, %z) {kind = "mul"} : (index, index, memref<3xi32>) -> ()
  // CHECK: "hir.binary"(%{{.*}}) {kind = "eq"} : (index, index, memref<8x3xi1, strided<[1, 8]>>) -> ()
  "hir.binary"(%n, %n, %d) {kind = "eq"} : (index, index, memref<8x3xi1, strided<[1, 8]>>) -> ()
  return
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<8xf32>, %o: memref<?xf32>, %s: f32, %y: memref<2x8xi8, strided<[1, 2]>>, %z: memref<8xcomplex<f32>>) {
  // CHECK: %{{.*}} = "hir.set"(%{{.*}}) : (memref<8xf32>) -> memref<8xf16>
  %0 = "hir.set"(%x) : (memref<8xf32>) -> memref<8xf16>
  // CHECK: "hir.set"(%{{.*}}) : (f32, memref<2x8xi8, strided<[1, 2]>>) -> ()
  "hir.set"(%s, %y) : (f32, memref<2x8xi8, strided<[1, 2]>>) -> ()
  // CHECK: "hir.set"(%{{.*}}) : (memref<?xf32>, memref<2x8xi8, strided<[1, 2]>>) -> ()
  "hir.set"(%o, %y) : (memref<?xf32>, memref<2x8xi8, strided<[1, 2]>>) -> ()
  // CHECK: %{{.*}} = "hir.set"(%{{.*}}) : (memref<8xcomplex<f32>>) -> memref<8xcomplex<f32>>
  %1 = "hir.set"(%z) : (memref<8xcomplex<f32>>) -> memref<8xcomplex<f32>>
  // CHECK: %{{.*}} = "hir.set"(%{{.*}}) {stream_axis = 0 : i64} : (memref<8xf32>) -> memref<8xtf32>
  %2 = "hir.set"(%x) {stream_axis = 0 : i64} : (memref<8xf32>) -> memref<8xtf32>
  return
}

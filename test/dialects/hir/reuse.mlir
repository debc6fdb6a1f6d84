// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%y: memref<8x4xf32>, %o: memref<?xf32>, %n: index) {
  // CHECK: %{{.*}} = "hir.reuse"(%{{.*}}) : (memref<8x4xf32>) -> memref<64xf16>
  %0 = "hir.reuse"(%y) : (memref<8x4xf32>) -> memref<64xf16>
  // CHECK: %{{.*}} = "hir.reuse"(%{{.*}}) {order = array<i64: 1, 0>, zero_init} : (memref<?xf32>, index) -> memref<?x4xi32, strided<[1, ?]>>
  %1 = "hir.reuse"(%o, %n) {order = array<i64: 1, 0>, zero_init} : (memref<?xf32>, index) -> memref<?x4xi32, strided<[1, ?]>>
  // CHECK: %{{.*}} = "hir.allocate"() {domain = [{factor = 4 : i64, split = 0 : i64}]} : () -> memref<5xf32>
  %2 = "hir.allocate"() {domain = [{factor = 4 : i64, split = 0 : i64}]} : () -> memref<5xf32>
  // What pads the storage is there to be used.
  // CHECK: %{{.*}} = "hir.reuse"(%{{.*}}) : (memref<5xf32>) -> memref<8xf32>
  %3 = "hir.reuse"(%2) : (memref<5xf32>) -> memref<8xf32>
  return
}

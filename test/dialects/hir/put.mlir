// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK-LABEL: func.func @put
func.func @put(%x: memref<?x8xf32>, %peer: index, %one: index, %three: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  %rows = "hir.slice"(%shared, %one, %three) {axis = 0 : i64}
    : (memref<4x8xf32>, index, index) -> memref<?x8xf32, strided<[8, 1], offset: ?>>
  // CHECK: %{{.*}} = "hir.put"(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<?x8xf32>, memref<?x8xf32, strided<[8, 1], offset: ?>>, index) -> !hir.request_t
  %first = "hir.put"(%x, %rows, %peer)
    : (memref<?x8xf32>, memref<?x8xf32, strided<[8, 1], offset: ?>>, index) -> !hir.request_t
  // CHECK: %{{.*}} = "hir.put"(%{{.*}}, %{{.*}}, %{{.*}}) {signal} : (memref<4x8xf32>, memref<4x8xf32>, index) -> !hir.request_t
  %second = "hir.put"(%shared, %shared, %peer) {signal}
    : (memref<4x8xf32>, memref<4x8xf32>, index) -> !hir.request_t
  return
}

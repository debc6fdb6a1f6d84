// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK-LABEL: func.func @get
func.func @get(%y: memref<8xf32>, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  %row = "hir.select"(%shared, %peer) {axis = 0 : i64}
    : (memref<4x8xf32>, index) -> memref<8xf32, strided<[1], offset: ?>>
  // CHECK: %{{.*}} = "hir.get"(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<8xf32, strided<[1], offset: ?>>, memref<8xf32>, index) -> !hir.request_t
  %request = "hir.get"(%row, %y, %peer)
    : (memref<8xf32, strided<[1], offset: ?>>, memref<8xf32>, index) -> !hir.request_t
  return
}

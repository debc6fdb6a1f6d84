// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK-LABEL: func.func @wait_signal
func.func @wait_signal(%peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  // CHECK: "hir.wait_signal"(%{{.*}}, %{{.*}}) : (memref<4x8xf32>, index) -> ()
  "hir.wait_signal"(%shared, %peer) : (memref<4x8xf32>, index) -> ()
  return
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK-LABEL: func.func @barrier
func.func @barrier() {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  // CHECK: "hir.barrier"(%{{.*}}) : (memref<4x8xf32>) -> ()
  "hir.barrier"(%shared) : (memref<4x8xf32>) -> ()
  return
}

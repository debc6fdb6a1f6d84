// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%m: memref<8xi1>, %a: memref<4x8xf32>, %s: f32, %c: i1, %d: memref<8xf16>) {
  // CHECK: %{{.*}} = "hir.ternary"(%{{.*}}) {kind = "where"} : (memref<8xi1>, memref<4x8xf32>, f32) -> memref<4x8xf32>
  %0 = "hir.ternary"(%m, %a, %s) {kind = "where"} : (memref<8xi1>, memref<4x8xf32>, f32) -> memref<4x8xf32>
  // CHECK: %{{.*}} = "hir.ternary"(%{{.*}}) {kind = "where"} : (i1, memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32>
  %1 = "hir.ternary"(%c, %a, %a) {kind = "where"} : (i1, memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32>
  // CHECK: %{{.*}} = "hir.ternary"(%{{.*}}) {kind = "where"} : (memref<8xi1>, f32, f32) -> memref<8xf16>
  %2 = "hir.ternary"(%m, %s, %s) {kind = "where"} : (memref<8xi1>, f32, f32) -> memref<8xf16>
  // CHECK: %{{.*}} = "hir.ternary"(%{{.*}}) {kind = "fma"} : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32>
  %3 = "hir.ternary"(%a, %a, %a) {kind = "fma"} : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32>
  // CHECK: "hir.ternary"(%{{.*}}) {kind = "clamp"} : (memref<8xf16>, f32, f32, memref<8xf16>) -> ()
  "hir.ternary"(%d, %s, %s, %d) {kind = "clamp"} : (memref<8xf16>, f32, f32, memref<8xf16>) -> ()
  return
}

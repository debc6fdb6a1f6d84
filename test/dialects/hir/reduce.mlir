// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<8x?xf32>, %i: memref<8x4xi8>, %b: memref<8xi1>, %y: memref<8xi64, strided<[2]>>) {
  // CHECK: %{{.*}} = "hir.reduce"(%{{.*}}) {axes = array<i64: 1>, kind = "sum"} : (memref<8x?xf32>) -> memref<8xf32>
  %0 = "hir.reduce"(%x) {axes = array<i64: 1>, kind = "sum"} : (memref<8x?xf32>) -> memref<8xf32>
  // CHECK: %{{.*}} = "hir.reduce"(%{{.*}}) {axes = array<i64: 1>, keep_dims, kind = "mean"} : (memref<8x?xf32>) -> memref<8x1xf32>
  %1 = "hir.reduce"(%x) {axes = array<i64: 1>, keep_dims, kind = "mean"} : (memref<8x?xf32>) -> memref<8x1xf32>
  // CHECK: %{{.*}} = "hir.reduce"(%{{.*}}) {axes = array<i64>, kind = "prod"} : (memref<8x4xi8>) -> memref<i8>
  %2 = "hir.reduce"(%i) {axes = array<i64>, kind = "prod"} : (memref<8x4xi8>) -> memref<i8>
  // CHECK: %{{.*}} = "hir.reduce"(%{{.*}}) {axes = array<i64: 0, 1>, kind = "sum"} : (memref<8x4xi8>) -> memref<i32>
  %3 = "hir.reduce"(%i) {axes = array<i64: 0, 1>, kind = "sum"} : (memref<8x4xi8>) -> memref<i32>
  // CHECK: %{{.*}} = "hir.reduce"(%{{.*}}) {axes = array<i64>, kind = "sum"} : (memref<8xi1>) -> memref<i64>
  %4 = "hir.reduce"(%b) {axes = array<i64>, kind = "sum"} : (memref<8xi1>) -> memref<i64>
  // CHECK: %{{.*}} = "hir.reduce"(%{{.*}}) {axes = array<i64>, kind = "all"} : (memref<8xi1>) -> memref<i1>
  %5 = "hir.reduce"(%b) {axes = array<i64>, kind = "all"} : (memref<8xi1>) -> memref<i1>
  // CHECK: "hir.reduce"(%{{.*}}) {axes = array<i64: 1>, kind = "argmax"} : (memref<8x?xf32>, memref<8xi64, strided<[2]>>) -> ()
  "hir.reduce"(%x, %y) {axes = array<i64: 1>, kind = "argmax"} : (memref<8x?xf32>, memref<8xi64, strided<[2]>>) -> ()
  return
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<?x4xf32>, %i: memref<8xui8>, %s: f32, %y: memref<8xi1>, %n: index) {
  // CHECK: %{{.*}} = "hir.unary"(%{{.*}}) {kind = "gelu"} : (memref<?x4xf32>) -> memref<?x4xf32>
  %0 = "hir.unary"(%x) {kind = "gelu"} : (memref<?x4xf32>) -> memref<?x4xf32>
  // CHECK: %{{.*}} = "hir.unary"(%{{.*}}) {kind = "not"} : (memref<8xui8>) -> memref<8xui8>
  %1 = "hir.unary"(%i) {kind = "not"} : (memref<8xui8>) -> memref<8xui8>
  // CHECK: %{{.*}} = "hir.unary"(%{{.*}}) {kind = "cast"} : (memref<8xui8>) -> memref<8xf8E5M2>
  %2 = "hir.unary"(%i) {kind = "cast"} : (memref<8xui8>) -> memref<8xf8E5M2>
  // CHECK: %{{.*}} = "hir.unary"(%{{.*}}) {kind = "isnan", stream_axis = 1 : i64} : (memref<?x4xf32>) -> memref<?x4xi1>
  %3 = "hir.unary"(%x) {kind = "isnan", stream_axis = 1 : i64} : (memref<?x4xf32>) -> memref<?x4xi1>
  // CHECK: "hir.unary"(%{{.*}}) {kind = "neg"} : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  "hir.unary"(%x, %x) {kind = "neg"} : (memref<?x4xf32>, memref<?x4xf32>) -> ()
  // CHECK: "hir.unary"(%{{.*}}) {kind = "isnan"} : (f32, memref<8xi1>) -> ()
  "hir.unary"(%s, %y) {kind = "isnan"} : (f32, memref<8xi1>) -> ()
  // CHECK: "hir.unary"(%{{.*}}) {kind = "neg"} : (index, memref<8xui8>) -> ()
  "hir.unary"(%n, %i) {kind = "neg"} : (index, memref<8xui8>) -> ()
  return
}

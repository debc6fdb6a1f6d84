// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<8xf32>, %o: memref<?xf32, strided<[2]>>) {
  // CHECK: %{{.*}} = "hir.unary"(%{{.*}}) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  // CHECK: "hir.alias"(%{{.*}}) : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.alias"(%y, %x) : (memref<8xf32>, memref<8xf32>) -> ()
  // CHECK: "hir.alias"(%{{.*}}) : (memref<8xf32>, memref<?xf32, strided<[2]>>) -> ()
  "hir.alias"(%y, %o) : (memref<8xf32>, memref<?xf32, strided<[2]>>) -> ()
  return
}

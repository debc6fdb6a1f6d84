// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%y: memref<?xf32>) {
  // CHECK: "hir.deallocate"(%{{.*}}) : (memref<?xf32>) -> ()
  "hir.deallocate"(%y) : (memref<?xf32>) -> ()
  return
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.output"(%{{.*}}) {name = "same"} : (memref<?x4xf32>) -> ()
// CHECK-NEXT: "hir.output"(%{{.*}}) : (memref<?x4xf32>) -> ()
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  "hir.output"(%x) {name = "same"} : (memref<?x4xf32>) -> ()
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (memref<?x4xf32>, memref<?x4xf32>)} : () -> ()

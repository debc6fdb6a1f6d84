// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.if"(%{{.*}}) ({
// CHECK-NEXT: "hir.output"
// CHECK-NEXT: }, {
// CHECK-NEXT: "hir.unary"
// CHECK-NEXT: "hir.output"
// CHECK-NEXT: }) : (i1) -> !hir.results_t
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %yes = arith.constant true


  %r = "hir.if"(%yes) ({
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }, {
    %z = "hir.unary"(%x) {kind = "neg"} : (memref<8x4xf32>) -> memref<8x4xf32>
    "hir.output"(%z) : (memref<8x4xf32>) -> ()
  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

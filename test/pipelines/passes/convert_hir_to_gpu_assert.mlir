// RUN: hirc-opt %s -p convert-hir-to-gpu | FileCheck %s

// A check of a program ends it with status 1; what is % to printf is text here.

// CHECK-DAG:   llvm.mlir.global internal unnamed_addr constant @[[TEXT:.*]]("at most 100%% of n\00")
// CHECK-LABEL: func.func private @hirc_body_main(
// CHECK-SAME:    %[[FINE:.*]]: i1
// CHECK:         %[[WRONG:.*]] = arith.xori %[[FINE]], %true
// CHECK:         scf.if %[[WRONG]] {
// CHECK:           %[[ADDRESS:.*]] = llvm.mlir.addressof @[[TEXT]]
// CHECK:           llvm.call @hirc_refuse(%[[ADDRESS]],
// CHECK-NOT:     cf.assert
"hir.program"() ({
^bb0(%fine: i1):
  cf.assert %fine, "at most 100% of n"
}) {sym_name = "main", function_type = (i1) -> ()} : () -> ()

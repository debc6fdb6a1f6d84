// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.has_matmul_library"() : () -> i1
"hir.program"() ({
  %there = "hir.has_matmul_library"() : () -> i1
}) {sym_name = "main", function_type = () -> ()} : () -> ()

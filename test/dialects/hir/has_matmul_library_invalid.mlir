// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  // expected-error @below {{it gives an i1, not i32}}
  %there = "hir.has_matmul_library"() : () -> i32
}) {sym_name = "main", function_type = () -> ()} : () -> ()

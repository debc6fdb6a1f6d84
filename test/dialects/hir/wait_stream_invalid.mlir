// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  // expected-error @below {{op expects exactly 2 operands, but got 1}}
  "hir.wait_stream"(%here) : (!hir.stream_t) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

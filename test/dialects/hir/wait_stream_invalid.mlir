// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  // expected-error @below {{hir.wait_stream: it takes 2 operands, not 1}}
  "hir.wait_stream"(%here) : (!hir.stream_t) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  // expected-error @below {{hir.set_stream: it takes 1 operand, not 0}}
  "hir.set_stream"() : () -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

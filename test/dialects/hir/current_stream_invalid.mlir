// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  // expected-error @below {{expected base type 'hir.stream_t' but got 'hir.event_t'}}
  %e = "hir.current_stream"() : () -> !hir.event_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

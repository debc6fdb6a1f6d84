// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  // expected-error @below {{expected base type 'hir.event_t' but got 'hir.stream_t'}}
  "hir.wait_event"(%here) : (!hir.stream_t) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

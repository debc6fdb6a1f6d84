// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %one = arith.constant 1 : index
  // expected-error @below {{hir.synchronize waits for a stream or an event, not for index; for a request, hir.wait and then hir.synchronize}}
  "hir.synchronize"(%one) : (index) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{expected base type 'builtin.index' but got 'builtin.integer'}}
  %place = "hir.rank"(%team) : (!hir.communicator_t) -> i32
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  %stream = "hir.current_stream"() : () -> !hir.stream_t
  // expected-error @below {{expected base type 'hir.communicator_t' but got 'hir.stream_t'}}
  %place = "hir.rank"(%stream) : (!hir.stream_t) -> index
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{it gives an i1, not i32}}
  %shares = "hir.shares_memory"(%team) : (!hir.communicator_t) -> i32
}) {sym_name = "main", function_type = () -> ()} : () -> ()

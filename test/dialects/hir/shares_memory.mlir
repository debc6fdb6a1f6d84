// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.shares_memory"(%{{.*}}) : (!hir.communicator_t) -> i1
"hir.program"() ({
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %shares = "hir.shares_memory"(%team) : (!hir.communicator_t) -> i1
}) {sym_name = "main", function_type = () -> ()} : () -> ()

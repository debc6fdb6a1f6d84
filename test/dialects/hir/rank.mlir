// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.rank"(%{{.*}}) : (!hir.communicator_t) -> index
"hir.program"() ({
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %place = "hir.rank"(%team) : (!hir.communicator_t) -> index
}) {sym_name = "main", function_type = () -> ()} : () -> ()

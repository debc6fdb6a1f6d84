// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.communicator"() {backend = "nccl", team = array<i64: 0, 3>} : () -> !hir.communicator_t
"hir.program"() ({
  %team = "hir.communicator"() {team = array<i64: 0, 3>, backend = "nccl"} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t

  %all = "hir.coalesce"() ({
    %request = "hir.communicate"(%x, %x, %team) {kind = "allreduce", reduction = "sum"}
      : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
    // expected-error @below {{hir.coalesce holds hir.communicate operations, and arithmetic for their peers, not hir.wait: put it before or after the group}}
    "hir.wait"(%request) : (!hir.request_t) -> ()
  }) : () -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{the body of hir.coalesce is one block; it has none: write ({ ^bb0: }) for an empty one}}
  %all = "hir.coalesce"() ({

  }) : () -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{hir.coalesce groups communications; it holds none}}
  %all = "hir.coalesce"() ({
  ^bb0:
  }) : () -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

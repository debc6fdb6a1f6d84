// Communications are calls of the support library; a group's stand between two more.
//
// RUN: hirc-opt %s --split-input-file -p convert-hir-to-gpu | FileCheck %s

// CHECK-LABEL: func.func private @{{.*}}main
// CHECK: %[[TEAM:.*]] = llvm.call @hirc_communicator_of(
// CHECK: %[[FIRST:.*]] = llvm.call @hirc_communicate(%[[TEAM]],
// CHECK: llvm.call @hirc_communication_wait(%[[FIRST]],
// CHECK: llvm.call @hirc_communication_group_begin(
// CHECK: llvm.call @hirc_communicate(%[[TEAM]],
// CHECK: llvm.call @hirc_communicate(%[[TEAM]],
// CHECK: %[[GROUP:.*]] = llvm.call @hirc_communication_group_end(
// CHECK: llvm.call @hirc_communication_wait(%[[GROUP]],
"hir.program"() ({
^bb0(%x: memref<4xf32>, %y: memref<?xui8>):
  %team = "hir.communicator"() {team = array<i64: 2, 0>} : () -> !hir.communicator_t
  %first = "hir.communicate"(%x, %x, %team) {kind = "broadcast", root = 2 : i64}
    : (memref<4xf32>, memref<4xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%first) : (!hir.request_t) -> ()
  %group = "hir.coalesce"() ({
    %a = "hir.communicate"(%x, %x, %team) {kind = "allreduce", reduction = "max"}
      : (memref<4xf32>, memref<4xf32>, !hir.communicator_t) -> !hir.request_t
    %b = "hir.communicate"(%y, %y, %team) {kind = "allreduce", reduction = "max"}
      : (memref<?xui8>, memref<?xui8>, !hir.communicator_t) -> !hir.request_t
  }) : () -> !hir.request_t
  "hir.wait"(%group) : (!hir.request_t) -> ()
}) {sym_name = "main", function_type = (memref<4xf32>, memref<?xui8>) -> ()} : () -> ()

// -----

// A team that nobody communicates in is not brought together; a device alone says that it is one of
// several.
// CHECK: hirc_teams(dense<[0, 1]> : tensor<2xi64>)
// CHECK: func.func private @hirc_body_main
// CHECK: llvm.call @hirc_communicator_of(
// CHECK-NOT: llvm.call @hirc_communicator_of(
"hir.program"() ({
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %alone = "hir.communicator"() {teams = [array<i64: 0>, array<i64: 1>]} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

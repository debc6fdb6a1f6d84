// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.wait"(%{{.*}}) : (!hir.request_t) -> ()
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %request = "hir.communicate"(%x, %x, %team) {kind = "allreduce", reduction = "sum"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%request) : (!hir.request_t) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

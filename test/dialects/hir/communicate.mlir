// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.communicate"{{.*}}kind = "gather"
// CHECK: "hir.communicate"{{.*}}kind = "allgather"
// CHECK: "hir.communicate"{{.*}}kind = "scatter"
// CHECK: "hir.communicate"{{.*}}kind = "reduce"
// CHECK: "hir.communicate"{{.*}}kind = "allreduce"
// CHECK: "hir.communicate"{{.*}}kind = "reduce-scatter"
// CHECK: "hir.communicate"{{.*}}kind = "broadcast"
// CHECK: "hir.communicate"{{.*}}kind = "send-recv"
// CHECK: "hir.communicate"{{.*}}kind = "all-to-all"
// CHECK: "hir.communicate"{{.*}}kind = "permute"
"hir.program"() ({
^bb0(%x0: memref<8xf32>, %y0: memref<16xf32>,
     %x1: memref<8xf32>, %y1: memref<2x8xf32>,
     %x2: memref<8xf32>, %y2: memref<4xf32>,
     %x3: memref<8xf32>, %y3: memref<8xf32>,
     %x4: memref<?xf32>, %y4: memref<?xf32>,
     %x5: memref<8x2xf32, strided<[2, 1], offset: ?>>, %y5: memref<8xf32>,
     %x6: memref<8xf32>, %y6: memref<8xf32>,
     %x7: memref<8xf32>, %y7: memref<8xf32>,
     %x8: memref<8xf32>, %y8: memref<8xf32>,
     %x9: memref<8xf32>, %y9: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %r0 = "hir.communicate"(%x0, %y0, %team) {kind = "gather", root = 1}
    : (memref<8xf32>, memref<16xf32>, !hir.communicator_t) -> !hir.request_t
  %r1 = "hir.communicate"(%x1, %y1, %team) {kind = "allgather"}
    : (memref<8xf32>, memref<2x8xf32>, !hir.communicator_t) -> !hir.request_t
  %r2 = "hir.communicate"(%x2, %y2, %team) {kind = "scatter", root = 0}
    : (memref<8xf32>, memref<4xf32>, !hir.communicator_t) -> !hir.request_t
  %r3 = "hir.communicate"(%x3, %y3, %team) {kind = "reduce", root = 0, reduction = "max"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
  %r4 = "hir.communicate"(%x4, %y4, %team) {kind = "allreduce", reduction = "sum"}
    : (memref<?xf32>, memref<?xf32>, !hir.communicator_t) -> !hir.request_t
  %r5 = "hir.communicate"(%x5, %y5, %team) {kind = "reduce-scatter", reduction = "avg"}
    : (memref<8x2xf32, strided<[2, 1], offset: ?>>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
  %r6 = "hir.communicate"(%x6, %y6, %team) {kind = "broadcast", root = 1}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
  %r7 = "hir.communicate"(%x7, %y7, %team) {kind = "send-recv", root = 0}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
  %r8 = "hir.communicate"(%x8, %y8, %team) {kind = "all-to-all"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
  %r9 = "hir.communicate"(%x9, %y9, %team) {kind = "permute", to = array<i64: 1, 0>}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<16xf32>,
      memref<8xf32>, memref<2x8xf32>,
      memref<8xf32>, memref<4xf32>,
      memref<8xf32>, memref<8xf32>,
      memref<?xf32>, memref<?xf32>,
      memref<8x2xf32, strided<[2, 1], offset: ?>>, memref<8xf32>,
      memref<8xf32>, memref<8xf32>,
      memref<8xf32>, memref<8xf32>,
      memref<8xf32>, memref<8xf32>,
      memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

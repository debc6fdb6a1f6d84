// Memory that a team shares is allocated and freed, and moved to and from, by calls of the support
// library; a team that it names is brought together.
//
// RUN: hirc-opt %s --split-input-file -p convert-hir-to-gpu | FileCheck %s

// CHECK-LABEL: func.func private @{{.*}}main
// CHECK: %[[TEAM:.*]] = llvm.call @hirc_communicator_of(
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
// CHECK: %[[ZEROS:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: %[[SHARED:.*]] = llvm.call @hirc_symmetric_allocate(%[[TEAM]], %[[BYTES]], %[[ZEROS]],
// CHECK-NOT: @hirc_allocate(
// CHECK: %[[PUT:.*]] = llvm.call @hirc_put(
// CHECK: llvm.call @hirc_communication_wait(%[[PUT]],
// CHECK: llvm.call @hirc_wait_signal(
// CHECK: llvm.call @hirc_barrier(
// CHECK: %[[GET:.*]] = llvm.call @hirc_get(
// CHECK: llvm.call @hirc_communication_wait(%[[GET]],
// CHECK: llvm.call @hirc_symmetric_free(%[[SHARED]],
// CHECK-NOT: @hirc_free(
"hir.program"() ({
^bb0(%x: memref<4xf32>, %peer: index):
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1>, zero_init}
    : () -> memref<2x4xf32>
  %row = "hir.select"(%shared, %peer) {axis = 0 : i64}
    : (memref<2x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  %put = "hir.put"(%x, %row, %peer) {signal}
    : (memref<4xf32>, memref<4xf32, strided<[1], offset: ?>>, index) -> !hir.request_t
  "hir.wait"(%put) : (!hir.request_t) -> ()
  "hir.wait_signal"(%shared, %peer) : (memref<2x4xf32>, index) -> ()
  "hir.barrier"(%shared) : (memref<2x4xf32>) -> ()
  %get = "hir.get"(%row, %x, %peer)
    : (memref<4xf32, strided<[1], offset: ?>>, memref<4xf32>, index) -> !hir.request_t
  "hir.wait"(%get) : (!hir.request_t) -> ()
  "hir.deallocate"(%shared) : (memref<2x4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4xf32>, index) -> ()} : () -> ()

// -----

// Symmetric memory without a team is the device's own.
// CHECK-LABEL: func.func private @{{.*}}main
// CHECK: llvm.call @hirc_allocate(
// CHECK: llvm.call @hirc_free(
"hir.program"() ({
  %own = "hir.allocate"() {memory = "symmetric"} : () -> memref<4xf32>
  "hir.deallocate"(%own) : (memref<4xf32>) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// RUN: hirc-opt %s -p convert-hir-to-gpu | FileCheck %s

// Each name has one table in which its stream is found again. A stream set in a loop's body is
// current to the end of it. An event goes back at the end of its block.

// CHECK:       llvm.mlir.global internal @[[TABLE:.*]](dense<0> : tensor<64xi64>)
// CHECK-NOT:   llvm.mlir.global internal @hirc_stream
// CHECK-LABEL: func.func private @hirc_body_main(
// CHECK-SAME:      %[[N:.*]]: index, %[[CALLERS:.*]]: !llvm.ptr)
// CHECK:         %[[KNOWN:.*]] = llvm.mlir.addressof @[[TABLE]]
// CHECK:         %[[SIDE:.*]] = llvm.call @hirc_stream_named(%[[KNOWN]], %{{.*}}, %{{.*}})
// CHECK:         llvm.mlir.addressof @[[TABLE]]
// CHECK:         llvm.call @hirc_stream_wait(%[[SIDE]], %[[CALLERS]], %{{.*}})
// CHECK:         %[[EVENT:.*]] = llvm.call @hirc_event_record(%[[CALLERS]], %{{.*}})
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[N]] step
// CHECK:           %[[NUMBER:.*]] = builtin.unrealized_conversion_cast %[[I]] : index to i64
// CHECK:           %[[POOL:.*]] = llvm.mlir.constant(8 : i64)
// CHECK:           %[[MINE:.*]] = llvm.call @hirc_stream_of_pool(%[[NUMBER]], %[[POOL]], %{{.*}})
// CHECK:           %[[OWN:.*]] = llvm.call @hirc_event_record(%[[MINE]], %{{.*}})
// CHECK:           llvm.call @cudaStreamWaitEvent(%[[MINE]], %[[EVENT]], %{{.*}})
// CHECK:           llvm.call @hirc_check(
// CHECK:           llvm.call @cudaEventSynchronize(%[[OWN]])
// CHECK:           llvm.call @hirc_event_release(%[[OWN]], %{{.*}})
// CHECK-NEXT:    }
// CHECK:         llvm.call @cudaStreamSynchronize(%[[CALLERS]])
// CHECK:         llvm.call @cudaStreamSynchronize(%[[SIDE]])
// CHECK:         llvm.call @hirc_event_release(%[[EVENT]], %{{.*}})
// CHECK-NEXT:    return
"hir.program"() ({
^bb0(%n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  %again = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  %here = "hir.current_stream"() : () -> !hir.stream_t
  "hir.wait_stream"(%side, %here) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.wait_stream"(%here, %here) : (!hir.stream_t, !hir.stream_t) -> ()
  %event = "hir.record"() : () -> !hir.event_t
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    %mine = "hir.stream"(%i) : (index) -> !hir.stream_t
    "hir.set_stream"(%mine) : (!hir.stream_t) -> ()
    %own = "hir.record"() : () -> !hir.event_t
    "hir.wait_event"(%event) : (!hir.event_t) -> ()
    "hir.synchronize"(%own) : (!hir.event_t) -> ()
  }) : (index, index, index) -> ()
  "hir.synchronize"() : () -> ()
  "hir.synchronize"(%side) : (!hir.stream_t) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

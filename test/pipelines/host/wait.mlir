// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// A synchronous wait blocks for each stream once; with none it has nothing to do.
// CHECK-LABEL: func.func @block(
// CHECK-SAME:      %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr)
// CHECK:         llvm.call @cudaStreamSynchronize(%[[A]])
// CHECK:         llvm.call @cudaStreamSynchronize(%[[B]])
// CHECK-NOT:     cudaStreamSynchronize
// CHECK:         return
func.func @block(%a: !gpu.async.token, %b: !gpu.async.token) {
  gpu.wait [%a, %b, %a]
  gpu.wait
  return
}

// An asynchronous wait with no token opens a stream, with one it is that token's stream.
// CHECK-LABEL: func.func @open()
// CHECK:         %[[STREAM:.*]] = llvm.call @hirc_stream_acquire(%{{.*}}) : (!llvm.ptr) -> !llvm.ptr
// CHECK-NOT:     cudaStreamSynchronize
// CHECK:         return %[[STREAM]], %[[STREAM]]
func.func @open() -> (!gpu.async.token, !gpu.async.token) {
  %0 = gpu.wait async
  %1 = gpu.wait async [%0]
  return %0, %1 : !gpu.async.token, !gpu.async.token
}

// With several it opens one that is ordered after them all, without blocking the host.
// CHECK-LABEL: func.func @join(
// CHECK-SAME:      %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr)
// CHECK:         %[[STREAM:.*]] = llvm.call @hirc_stream_acquire
// CHECK:         llvm.call @hirc_stream_wait(%[[STREAM]], %[[A]], %{{.*}})
// CHECK:         llvm.call @hirc_stream_wait(%[[STREAM]], %[[B]], %{{.*}})
// CHECK-NOT:     cudaStreamSynchronize
// CHECK:         return %[[STREAM]]
func.func @join(%a: !gpu.async.token, %b: !gpu.async.token) -> !gpu.async.token {
  %0 = gpu.wait async [%a, %b]
  return %0 : !gpu.async.token
}

// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// What is freed is the allocated pointer, not the aligned one.
// CHECK-LABEL: func.func @synchronous(
// CHECK-SAME:      %[[BUFFER:.*]]: memref<?xf32>, %[[STREAM:.*]]: !llvm.ptr)
// CHECK:         %[[DESCRIPTOR:.*]] = builtin.unrealized_conversion_cast %[[BUFFER]]
// CHECK:         %[[ALLOCATED:.*]] = llvm.extractvalue %[[DESCRIPTOR]][0]
// CHECK:         llvm.call @cudaStreamSynchronize(%[[STREAM]])
// CHECK:         llvm.call @cudaFree(%[[ALLOCATED]]) : (!llvm.ptr) -> i32
// CHECK:         llvm.call @hirc_check
func.func @synchronous(%m: memref<?xf32>, %t: !gpu.async.token) {
  gpu.dealloc [%t] %m : memref<?xf32>
  return
}

// CHECK-LABEL: func.func @asynchronous(
// CHECK-SAME:      %[[BUFFER:.*]]: memref<f32>, %[[STREAM:.*]]: !llvm.ptr, %[[OTHER:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK:         llvm.call @hirc_stream_wait(%[[STREAM]], %[[OTHER]], %{{.*}})
// CHECK:         llvm.call @hirc_dealloc_async(%{{.*}}, %[[STREAM]], %{{.*}})
// CHECK-NOT:     cudaStreamSynchronize
// CHECK:         return %[[STREAM]]
func.func @asynchronous(%m: memref<f32, 1>, %t: !gpu.async.token, %u: !gpu.async.token) -> !gpu.async.token {
  %0 = gpu.dealloc async [%t, %u] %m : memref<f32, 1>
  return %0 : !gpu.async.token
}

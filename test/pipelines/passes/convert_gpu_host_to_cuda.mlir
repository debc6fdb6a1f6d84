// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// What every host operation becomes is tested in test/pipelines/host. Here: a token is a stream
// wherever it goes, host memory has one address space, and device code stays as it is.
module attributes {gpu.container_module} {

// CHECK-LABEL: gpu.module @device
// CHECK:         func.func @kept(%{{.*}}: memref<4xf32, 1>)
// CHECK:           gpu.barrier
gpu.module @device {
  func.func @kept(%m: memref<4xf32, 1>) {
    gpu.barrier
    return
  }
}

// CHECK-LABEL: func.func @callee(%{{.*}}: !llvm.ptr) -> !llvm.ptr
func.func @callee(%t: !gpu.async.token) -> !gpu.async.token {
  return %t : !gpu.async.token
}

// CHECK-LABEL: func.func private @outside(memref<?xf32>, memref<*xf32>, !llvm.ptr)
func.func private @outside(memref<?xf32, 1>, memref<*xf32, 1>, !gpu.async.token)

// CHECK-LABEL: func.func @tokens(
// CHECK-SAME:      %[[CONDITION:.*]]: i1, %[[N:.*]]: index, %[[M:.*]]: memref<4xf32>)
// CHECK:         %[[OPENED:.*]] = llvm.call @hirc_stream_acquire
// CHECK:         %[[CHOSEN:.*]] = scf.if %[[CONDITION]] -> (!llvm.ptr) {
// CHECK:           llvm.call @hirc_copy_bytes(%{{.*}}, %[[OPENED]], %{{.*}})
// CHECK:           scf.yield %[[OPENED]] : !llvm.ptr
// CHECK:         } else {
// CHECK:           scf.yield %[[OPENED]] : !llvm.ptr
// CHECK:         %[[LOOPED:.*]] = scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %[[CHOSEN]]) -> (!llvm.ptr) {
// CHECK:           llvm.call @hirc_copy_bytes(%{{.*}}, %[[CARRIED]], %{{.*}})
// CHECK:           scf.yield %[[CARRIED]] : !llvm.ptr
// CHECK:         %[[RETURNED:.*]] = call @callee(%[[LOOPED]]) : (!llvm.ptr) -> !llvm.ptr
// CHECK:         cf.br ^[[BLOCK:.*]](%[[RETURNED]] : !llvm.ptr)
// CHECK:       ^[[BLOCK]](%[[ARGUMENT:.*]]: !llvm.ptr):
// CHECK:         %[[SELECTED:.*]] = arith.select %[[CONDITION]], %[[ARGUMENT]], %[[RETURNED]] : !llvm.ptr
// CHECK:         llvm.call @cudaStreamSynchronize(%[[SELECTED]])
func.func @tokens(%condition: i1, %n: index, %m: memref<4xf32>) {
  %t0 = gpu.wait async
  %t1 = scf.if %condition -> (!gpu.async.token) {
    %0 = gpu.memcpy async [%t0] %m, %m : memref<4xf32>, memref<4xf32>
    scf.yield %0 : !gpu.async.token
  } else {
    scf.yield %t0 : !gpu.async.token
  }
  %t2 = scf.for %i = %n to %n step %n iter_args(%t = %t1) -> (!gpu.async.token) {
    %0 = gpu.memcpy async [%t] %m, %m : memref<4xf32>, memref<4xf32>
    scf.yield %0 : !gpu.async.token
  }
  %t3 = call @callee(%t2) : (!gpu.async.token) -> !gpu.async.token
  cf.br ^next(%t3 : !gpu.async.token)
^next(%t4: !gpu.async.token):
  %t5 = arith.select %condition, %t4, %t3 : !gpu.async.token
  gpu.wait [%t5]
  return
}

// CHECK-LABEL: func.func @spaces(
// CHECK-SAME:      %[[M:.*]]: memref<4xf32>, %[[STREAM:.*]]: !llvm.ptr)
// CHECK:         %[[ANY:.*]] = memref.cast %[[M]] : memref<4xf32> to memref<?xf32>
// CHECK:         memref.subview %[[ANY]]{{.*}} : memref<?xf32> to memref<2xf32, strided<[1], offset: 1>>
// CHECK:         %[[UNRANKED:.*]] = memref.cast %[[M]] : memref<4xf32> to memref<*xf32>
// CHECK:         call @outside(%[[ANY]], %[[UNRANKED]], %[[STREAM]]) : (memref<?xf32>, memref<*xf32>, !llvm.ptr) -> ()
func.func @spaces(%m: memref<4xf32, 1>, %t: !gpu.async.token) {
  %0 = memref.cast %m : memref<4xf32, 1> to memref<?xf32, 1>
  %1 = memref.subview %0[1] [2] [1] : memref<?xf32, 1> to memref<2xf32, strided<[1], offset: 1>, 1>
  %2 = memref.cast %m : memref<4xf32, 1> to memref<*xf32, 1>
  call @outside(%0, %2, %t) : (memref<?xf32, 1>, memref<*xf32, 1>, !gpu.async.token) -> ()
  return
}

// CHECK-LABEL: func.func @space_cast(
// CHECK-NOT:     #gpu.address_space
// CHECK:         return
func.func @space_cast(%m: memref<4xf32, #gpu.address_space<global>>) -> memref<4xf32> {
  %0 = memref.memory_space_cast %m : memref<4xf32, #gpu.address_space<global>> to memref<4xf32>
  return %0 : memref<4xf32>
}
}

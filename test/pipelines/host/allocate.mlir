// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// Every call's code is checked with the call's name and the operation's position.
// CHECK-DAG: @[[POSITION:hirc_string_[0-9]+]]("{{.*}}allocate.mlir:[[# @LINE + 19]]:8\00")
// CHECK-DAG: @[[MALLOC:hirc_string_[0-9]+]]("cudaMallocAsync\00")

// A static size is multiplied at compile time; the call is synchronous, on the default stream.
// CHECK-LABEL: func.func @static() -> memref<4x8xf32>
// CHECK:         %[[SLOT:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(128 : i64)
// CHECK:         %[[DEFAULT:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         %[[CODE:.*]] = llvm.call @cudaMallocAsync(%[[SLOT]], %[[BYTES]], %[[DEFAULT]]) : (!llvm.ptr, i64, !llvm.ptr) -> i32
// CHECK-NEXT:    %[[NAME:.*]] = llvm.mlir.addressof @[[MALLOC]]
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.mlir.addressof @[[POSITION]]
// CHECK-NEXT:    llvm.call @hirc_check(%[[CODE]], %[[NAME]], %[[PLACE]])
// CHECK:         llvm.call @cudaStreamSynchronize(%[[DEFAULT]])
// CHECK:         %[[ADDRESS:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.insertvalue %[[ADDRESS]], %{{.*}}[0]
// CHECK:         llvm.insertvalue %[[ADDRESS]], %{{.*}}[1]
// CHECK:         %[[BUFFER:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<4x8xf32>
// CHECK:         return %[[BUFFER]]
func.func @static() -> memref<4x8xf32> {
  %0 = gpu.alloc () : memref<4x8xf32>
  return %0 : memref<4x8xf32>
}

// Dynamic sizes are multiplied at run time; strides are the products of the sizes after them; the
// memory space is gone; the stream is the dependency's and nothing waits.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:      %[[N:.*]]: index, %[[M:.*]]: index, %[[STREAM:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK:         %[[ROWS:.*]] = builtin.unrealized_conversion_cast %[[N]] : index to i64
// CHECK:         %[[COLUMNS:.*]] = builtin.unrealized_conversion_cast %[[M]] : index to i64
// CHECK:         %[[EACH:.*]] = llvm.mlir.constant(6 : i64)
// CHECK:         %[[SOME:.*]] = llvm.mul %[[EACH]], %[[ROWS]]
// CHECK:         %[[ALL:.*]] = llvm.mul %[[SOME]], %[[COLUMNS]]
// CHECK:         llvm.call @cudaMallocAsync(%{{.*}}, %[[ALL]], %[[STREAM]])
// CHECK-NOT:     cudaStreamSynchronize
// CHECK:         llvm.insertvalue %[[COLUMNS]], %{{.*}}[3, 2]
// CHECK:         %[[STRIDE:.*]] = llvm.mul %{{.*}}, %[[COLUMNS]]
// CHECK:         llvm.insertvalue %[[STRIDE]], %{{.*}}[4, 1]
// CHECK:         llvm.insertvalue %[[ROWS]], %{{.*}}[3, 0]
// CHECK:         to memref<?x3x?xf16>
// CHECK:         return %[[STREAM]]
func.func @dynamic(%n: index, %m: index, %t: !gpu.async.token) -> !gpu.async.token {
  %0, %1 = gpu.alloc async [%t] (%n, %m) : memref<?x3x?xf16, 1>
  return %1 : !gpu.async.token
}

// Memory the host shares is managed, and waits for what it depends on.
// CHECK-LABEL: func.func @host_shared(
// CHECK-SAME:      %[[FIRST:.*]]: !llvm.ptr, %[[SECOND:.*]]: !llvm.ptr)
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(4 : i64)
// CHECK:         llvm.call @cudaStreamSynchronize(%[[FIRST]])
// CHECK:         llvm.call @cudaStreamSynchronize(%[[SECOND]])
// CHECK:         %[[ANY_STREAM:.*]] = llvm.mlir.constant(1 : i32)
// CHECK:         llvm.call @cudaMallocManaged(%{{.*}}, %[[BYTES]], %[[ANY_STREAM]]) : (!llvm.ptr, i64, i32) -> i32
func.func @host_shared(%a: !gpu.async.token, %b: !gpu.async.token) {
  %0 = gpu.alloc [%a, %b] host_shared () : memref<f32>
  return
}

// An operation with no dependency and a token gets a stream of its own. Element sizes: an index
// takes 8 bytes, an i1 one, a complex both halves, a vector the next power of two.
// CHECK-LABEL: func.func @elements()
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(80 : i64)
// CHECK:         %[[STREAM:.*]] = llvm.call @hirc_stream_acquire(%{{.*}}) : (!llvm.ptr) -> !llvm.ptr
// CHECK:         llvm.call @cudaMallocAsync(%{{.*}}, %[[BYTES]], %[[STREAM]])
// CHECK:         llvm.mlir.constant(10 : i64)
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(10 : i64)
// CHECK:         llvm.call @cudaMallocAsync(%{{.*}}, %[[BYTES]],
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(160 : i64)
// CHECK:         llvm.call @cudaMallocAsync(%{{.*}}, %[[BYTES]],
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(160 : i64)
// CHECK:         llvm.call @cudaMallocAsync(%{{.*}}, %[[BYTES]],
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(20 : i64)
// CHECK:         llvm.call @cudaMallocAsync(%{{.*}}, %[[BYTES]],
// CHECK:         %{{.*}} to memref<10xbf16>
// CHECK:         llvm.mlir.constant(4 : i64)
// CHECK-NEXT:    %[[BYTES:.*]] = llvm.mlir.constant(0 : i64)
// CHECK:         llvm.call @cudaMallocAsync(%{{.*}}, %[[BYTES]],
func.func @elements() {
  %0, %t0 = gpu.alloc async () : memref<10xindex>
  %1, %t1 = gpu.alloc async () : memref<10xi1>
  %2, %t2 = gpu.alloc async () : memref<10xcomplex<f64>>
  %3, %t3 = gpu.alloc async () : memref<10xvector<3xf32>>
  %4, %t4 = gpu.alloc async () : memref<10xbf16>
  %5, %t5 = gpu.alloc async () : memref<0x4xf32>
  return
}

// The slot an address comes back in is taken once a function, not once a turn of a loop.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         llvm.alloca
// CHECK:         scf.for
// CHECK-NOT:       llvm.alloca
// CHECK:           llvm.call @cudaMallocAsync
// CHECK:           llvm.call @hirc_dealloc_async
func.func @in_a_loop(%begin: index, %end: index, %step: index) {
  scf.for %i = %begin to %end step %step {
    %0, %t0 = gpu.alloc async () : memref<10xf32>
    %t1 = gpu.dealloc async [%t0] %0 : memref<10xf32>
  }
  return
}

// Memory that the host shares is there at once: its token is the stream that it was given.
// CHECK-LABEL: func.func @shared_in_a_stream(
// CHECK-SAME:      %[[STREAM:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK:         llvm.call @cudaMallocManaged
// CHECK-NOT:     llvm.call @cudaStreamSynchronize
// CHECK:         return %[[STREAM]]
func.func @shared_in_a_stream(%token: !gpu.async.token) -> !gpu.async.token {
  %0, %t = gpu.alloc async [%token] host_shared () : memref<4xf32>
  return %t : !gpu.async.token
}

// RUN: hirc-opt %s --order-synchronous-operations | FileCheck %s

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @scale(%m: memref<8xf32>) kernel {
    gpu.return
  }
}

// A launch uses a view of what a copy writes; that follows the allocation, which need not be named.
// CHECK-LABEL: func.func @launch(
// CHECK:         %[[COPY:.*]] = gpu.memcpy async
// CHECK:         gpu.wait async [%[[COPY]]]
// CHECK:         gpu.wait [%[[COPY]]]
// CHECK-NEXT:    gpu.launch_func {{ *}}@kernels::@scale
func.func @launch(%host: memref<8xf32>) {
  %one = arith.constant 1 : index
  %s = gpu.wait async
  %device, %a = gpu.alloc async [%s] () : memref<8xf32>
  %b = gpu.memcpy async [%a] %device, %host : memref<8xf32>, memref<8xf32>
  %c = gpu.wait async [%b]
  %view = memref.reinterpret_cast %device to offset: [0], sizes: [8], strides: [1]
      : memref<8xf32> to memref<8xf32>
  gpu.launch_func @kernels::@scale blocks in (%one, %one, %one) threads in (%one, %one, %one)
      args(%view : memref<8xf32>)
  return
}

// Once waited for, also by what follows, nothing is pending.
// CHECK-LABEL: func.func @waited(
// CHECK-COUNT-2: gpu.wait
// CHECK-NOT:     gpu.wait
// CHECK:         return
func.func @waited(%host: memref<8xf32>) {
  %one = arith.constant 1 : index
  %device, %a = gpu.alloc async () : memref<8xf32>
  %b = gpu.memcpy async [%a] %device, %host : memref<8xf32>, memref<8xf32>
  %c = gpu.wait async [%b]
  gpu.wait [%c]
  gpu.launch_func @kernels::@scale blocks in (%one, %one, %one) threads in (%one, %one, %one)
      args(%device : memref<8xf32>)
  %back = gpu.memcpy async %host, %device : memref<8xf32>, memref<8xf32>
  gpu.memcpy [%back] %host, %device : memref<8xf32>, memref<8xf32>
  gpu.memcpy %device, %host : memref<8xf32>, memref<8xf32>
  return
}

// What uses other buffers, or reads the same, goes on beside; so does what is async.
// CHECK-LABEL: func.func @beside(
// CHECK-NOT:     gpu.wait
// CHECK:         return
func.func @beside(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %other = gpu.alloc () : memref<8xf32>
  %a = gpu.memcpy async %y, %x : memref<8xf32>, memref<8xf32>
  gpu.memcpy %z, %x : memref<8xf32>, memref<8xf32>
  gpu.memset %other, %zero : memref<8xf32>, f32
  %b = gpu.memset async %y, %zero : memref<8xf32>, f32
  return
}

// Of two that write each waits, in either kind of block; inner blocks do not say what is over.
// CHECK-LABEL: func.func @blocks(
// CHECK:         %[[A:.*]] = gpu.memset async %arg0
// CHECK:         %[[B:.*]] = gpu.memset async %arg1
// CHECK:         scf.if
// CHECK:           gpu.wait [%[[A]], %[[B]]]
// CHECK-NEXT:      gpu.memcpy {{ *}}%arg0, %arg1
// CHECK:         gpu.wait [%[[B]]]
// CHECK-NEXT:    gpu.memset {{ *}}%arg1
func.func @blocks(%x: memref<8xf32>, %y: memref<8xf32>, %condition: i1) {
  %zero = arith.constant 0.0 : f32
  %a = gpu.memset async %x, %zero : memref<8xf32>, f32
  %b = gpu.memset async %y, %zero : memref<8xf32>, f32
  scf.if %condition {
    gpu.memcpy %x, %y : memref<8xf32>, memref<8xf32>
  }
  gpu.memset %y, %zero : memref<8xf32>, f32
  return
}

// A kernel in a stream of the program's own is waited for by the program.
// CHECK-LABEL: func.func @stream(
// CHECK:         gpu.memset async
// CHECK-NOT:     gpu.wait
// CHECK:         return
func.func @stream(%x: memref<8xf32>, %stream: !llvm.ptr) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %a = gpu.memset async %x, %zero : memref<8xf32>, f32
  gpu.launch_func <%stream : !llvm.ptr> @kernels::@scale blocks in (%one, %one, %one)
      threads in (%one, %one, %one) args(%x : memref<8xf32>)
  return
}

// A buffer that a loop or a branch gives may be any; one of a global is told by its name; and a token
// that a loop gives is of whatever that began.
// CHECK-LABEL: func.func @unknown(
// CHECK:         %[[A:.*]] = gpu.memset async %arg0
// CHECK:         scf.for
// CHECK:           gpu.wait [%[[A]]]
// CHECK-NEXT:      gpu.memset
// CHECK:         %[[B:.*]] = gpu.memset async
// CHECK:         gpu.wait [{{.*}}%[[B]]]
// CHECK-NEXT:    gpu.memset
// CHECK:         %[[C:.*]] = scf.for
// CHECK:         gpu.wait [%[[C]]]
// CHECK-NEXT:    gpu.memset
memref.global "private" @numbers : memref<8xf32> = uninitialized
func.func @unknown(%x: memref<8xf32>, %y: memref<8xf32>, %count: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = gpu.memset async %x, %zero : memref<8xf32>, f32
  %turned:2 = scf.for %i = %c0 to %count step %c1 iter_args(%one = %x, %other = %y)
      -> (memref<8xf32>, memref<8xf32>) {
    gpu.memset %one, %zero : memref<8xf32>, f32
    scf.yield %other, %one : memref<8xf32>, memref<8xf32>
  }
  %first = memref.get_global @numbers : memref<8xf32>
  %again = memref.get_global @numbers : memref<8xf32>
  %b = gpu.memset async %first, %zero : memref<8xf32>, f32
  gpu.memset %again, %zero : memref<8xf32>, f32
  %begun = gpu.wait async
  %c = scf.for %i = %c0 to %count step %c1 iter_args(%t = %begun) -> (!gpu.async.token) {
    %next = gpu.memset async [%t] %y, %zero : memref<8xf32>, f32
    scf.yield %next : !gpu.async.token
  }
  gpu.memset %y, %zero : memref<8xf32>, f32
  return
}

// What the first block has begun is before the others.
// CHECK-LABEL: func.func @first_block(
// CHECK:         %[[A:.*]] = gpu.memset async
// CHECK:       ^bb1:
// CHECK:         gpu.wait [%[[A]]]
// CHECK:       ^bb2:
// CHECK:         gpu.wait [%[[A]]]
func.func @first_block(%x: memref<8xf32>, %condition: i1) {
  %zero = arith.constant 0.0 : f32
  %a = gpu.memset async %x, %zero : memref<8xf32>, f32
  cf.cond_br %condition, ^bb1, ^bb2
^bb1:
  gpu.memset %x, %zero : memref<8xf32>, f32
  cf.br ^bb2
^bb2:
  gpu.memset %x, %zero : memref<8xf32>, f32
  return
}
}

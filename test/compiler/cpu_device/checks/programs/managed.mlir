// Right: two kernels in two streams, each with managed memory of its own; the host reads the memory
// of the one it has waited for while the other is pending.
// PRINTS: 1
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%data: memref<256xf32>) kernel {
      %thread = gpu.thread_id x
      %value = arith.constant 1.0 : f32
      memref.store %value, %data[%thread] : memref<256xf32>
      gpu.return
    }
  }
  func.func @main() {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %left = gpu.alloc host_shared () : memref<256xf32>
    %right = gpu.alloc host_shared () : memref<256xf32>
    %t0 = gpu.wait async
    %t1 = gpu.launch_func async [%t0] @kernels::@fill blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%left : memref<256xf32>)
    %u0 = gpu.wait async
    %u1 = gpu.launch_func async [%u0] @kernels::@fill blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%right : memref<256xf32>)
    gpu.wait [%t1]
    %value = memref.load %left[%zero] : memref<256xf32>
    vector.print %value : f32
    gpu.wait [%u1]
    gpu.dealloc %left : memref<256xf32>
    gpu.dealloc %right : memref<256xf32>
    return
  }
}

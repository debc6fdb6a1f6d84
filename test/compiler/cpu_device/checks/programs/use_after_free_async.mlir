// In the stream's order the memory is freed between two kernels.
// EXPECT: use after free: write of 4 bytes in kernel .*fill.* at .*use_after_free_async.mlir:FAULT:7, block \(0,0,0\) thread \(0,0,0\): address 0x[0-9a-f]+ is at byte 0 of a freed allocation of 1024 bytes
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%data: memref<256xf32>) kernel {
      %thread = gpu.thread_id x
      %value = arith.constant 1.0 : f32
      memref.store %value, %data[%thread] : memref<256xf32> // FAULT
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %t0 = gpu.wait async
    %data, %t1 = gpu.alloc async [%t0] () : memref<256xf32>
    %t2 = gpu.launch_func async [%t1] @kernels::@fill blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%data : memref<256xf32>)
    %t3 = gpu.dealloc async [%t2] %data : memref<256xf32>
    %t4 = gpu.launch_func async [%t3] @kernels::@fill blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%data : memref<256xf32>)
    gpu.wait [%t4]
    return
  }
}

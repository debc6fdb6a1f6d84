// The kernel's memory has been freed.
// EXPECT: use after free: write of 4 bytes in kernel .*fill.* at .*use_after_free.mlir:FAULT:7, block \(0,0,0\) thread \(0,0,0\): address 0x[0-9a-f]+ is at byte 0 of a freed allocation of 1024 bytes \(cudaMalloc(Async)?, the program's allocation 1\)
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
    %data = gpu.alloc () : memref<256xf32>
    gpu.dealloc %data : memref<256xf32>
    gpu.launch_func @kernels::@fill blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<256xf32>)
    return
  }
}

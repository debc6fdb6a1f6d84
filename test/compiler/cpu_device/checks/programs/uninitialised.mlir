// Nothing has written what the kernel reads; it goes on, and the program ends with status 1.
// EXPECT: read of memory that nothing wrote: 4 bytes in kernel .*copy.* at .*uninitialised.mlir:FAULT:16, block \(0,0,0\) thread \(0,0,0\): address 0x[0-9a-f]+ is at byte 0 of an allocation of 128 bytes \(cudaMalloc(Async)?, the program's allocation 1\)
// PRINTS: the end
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy(%from: memref<32xf32>, %to: memref<32xf32>) kernel {
      %thread = gpu.thread_id x
      %value = memref.load %from[%thread] : memref<32xf32> // FAULT
      memref.store %value, %to[%thread] : memref<32xf32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %from = gpu.alloc () : memref<32xf32>
    %to = gpu.alloc () : memref<32xf32>
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%from : memref<32xf32>, %to : memref<32xf32>)
    gpu.dealloc %from : memref<32xf32>
    gpu.dealloc %to : memref<32xf32>
    vector.print str "the end\n"
    return
  }
}

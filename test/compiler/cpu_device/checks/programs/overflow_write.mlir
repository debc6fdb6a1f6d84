// Every thread writes one element too far; the last one's is not there.
// EXPECT: out-of-bounds write of 4 bytes in kernel .*fill.* at .*overflow_write.mlir:FAULT:7, block \(1,0,0\) thread \(127,0,0\): address 0x[0-9a-f]+ is 0 bytes after an allocation of 1024 bytes \(cudaMalloc(Async)?, the program's allocation 2\)
// EXPECT: cudaErrorIllegalAddress
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%data: memref<256xf32>) kernel {
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %one = arith.constant 1 : index
      %value = arith.constant 1.0 : f32
      %first = arith.muli %block, %size : index
      %place = arith.addi %first, %thread : index
      %next = arith.addi %place, %one : index
      memref.store %value, %data[%next] : memref<256xf32> // FAULT
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %threads = arith.constant 128 : index
    %other = gpu.alloc () : memref<16xf32>
    %data = gpu.alloc () : memref<256xf32>
    gpu.launch_func @kernels::@fill blocks in (%two, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<256xf32>)
    gpu.dealloc %data : memref<256xf32>
    gpu.dealloc %other : memref<16xf32>
    return
  }
}

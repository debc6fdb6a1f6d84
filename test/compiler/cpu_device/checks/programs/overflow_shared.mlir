// The last thread reads behind the shared array.
// EXPECT: out-of-bounds read of 4 bytes in kernel .*shift.* at .*overflow_shared.mlir:FAULT:16, block \(0,0,0\) thread \(63,0,0\): address 0x[0-9a-f]+ is 0 bytes after the block's shared variable .* of 256 bytes
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @shift(%data: memref<64xf32>)
        workgroup(%slots: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
      %thread = gpu.thread_id x
      %one = arith.constant 1 : index
      %value = arith.constant 1.0 : f32
      memref.store %value, %slots[%thread] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %next = arith.addi %thread, %one : index
      %other = memref.load %slots[%next] : memref<64xf32, #gpu.address_space<workgroup>> // FAULT
      memref.store %other, %data[%thread] : memref<64xf32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %data = gpu.alloc () : memref<64xf32>
    gpu.launch_func @kernels::@shift blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<64xf32>)
    gpu.dealloc %data : memref<64xf32>
    return
  }
}

// Threads read slots of shared memory that no thread has written.
// EXPECT: read of memory that nothing wrote: 4 bytes in kernel .*sparse.* at .*uninitialised_shared.mlir:FAULT:16, block \(0,0,0\) thread \(1,0,0\): address 0x[0-9a-f]+ is at byte 4 of the block's shared variable .* of 128 bytes
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sparse(%data: memref<32xi32>)
        workgroup(%slots: memref<32xi32, #gpu.address_space<workgroup>>) kernel {
      %thread = gpu.thread_id x
      %zero = arith.constant 0 : index
      %value = arith.constant 1 : i32
      %first = arith.cmpi eq, %thread, %zero : index
      scf.if %first {
        memref.store %value, %slots[%zero] : memref<32xi32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %other = memref.load %slots[%thread] : memref<32xi32, #gpu.address_space<workgroup>> // FAULT
      memref.store %other, %data[%thread] : memref<32xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %data = gpu.alloc () : memref<32xi32>
    gpu.launch_func @kernels::@sparse blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<32xi32>)
    gpu.dealloc %data : memref<32xi32>
    return
  }
}

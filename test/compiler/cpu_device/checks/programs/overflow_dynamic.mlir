// The launch gives less dynamic shared memory than the kernel uses.
// EXPECT: out-of-bounds write of 4 bytes in kernel .*dynamic.* at .*overflow_dynamic.mlir:FAULT:7, block \(0,0,0\) thread \(16,0,0\): address 0x[0-9a-f]+ is 0 bytes after the block's shared memory of 64 bytes
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @dynamic(%data: memref<32xi32>) kernel {
      %zero = arith.constant 0 : index
      %thread = gpu.thread_id x
      %value = arith.constant 1 : i32
      %all = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %slots = memref.view %all[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<32xi32, #gpu.address_space<workgroup>>
      memref.store %value, %slots[%thread] : memref<32xi32, #gpu.address_space<workgroup>> // FAULT
      gpu.barrier
      %a = memref.load %slots[%thread] : memref<32xi32, #gpu.address_space<workgroup>>
      memref.store %a, %data[%thread] : memref<32xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %bytes = arith.constant 64 : i32
    %data = gpu.alloc () : memref<32xi32>
    gpu.launch_func @kernels::@dynamic blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        dynamic_shared_memory_size %bytes args(%data : memref<32xi32>)
    gpu.dealloc %data : memref<32xi32>
    return
  }
}

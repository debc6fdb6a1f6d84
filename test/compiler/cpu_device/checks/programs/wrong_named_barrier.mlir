// Each half of the block has a barrier of its own, but reads what the other half has written.
// EXPECT: race: read of 4 bytes in kernel .*halves.* at .*wrong_named_barrier.mlir:FAULT:16, block \(0,0,0\) thread \(\d+,0,0\), and write of 4 bytes|race: write of 4 bytes in kernel .*halves.*, and read of 4 bytes at .*wrong_named_barrier.mlir:FAULT
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @halves(%data: memref<128xi32>)
        workgroup(%slots: memref<128xi32, #gpu.address_space<workgroup>>) kernel {
      %flip = arith.constant 127 : index
      %thread = gpu.thread_id x
      %count = arith.constant 64 : i32
      %six = arith.constant 6 : i32
      %one = arith.constant 1 : i32
      %mine = arith.index_cast %thread : index to i32
      %half = arith.shrui %mine, %six : i32
      %barrier = arith.addi %half, %one : i32
      memref.store %mine, %slots[%thread] : memref<128xi32, #gpu.address_space<workgroup>>
      nvvm.barrier id = %barrier number_of_threads = %count
      %mirror = arith.xori %thread, %flip : index
      %other = memref.load %slots[%mirror] : memref<128xi32, #gpu.address_space<workgroup>> // FAULT
      memref.store %other, %data[%thread] : memref<128xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %data = gpu.alloc () : memref<128xi32>
    gpu.launch_func @kernels::@halves blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<128xi32>)
    gpu.dealloc %data : memref<128xi32>
    return
  }
}

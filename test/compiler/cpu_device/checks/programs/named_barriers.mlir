// Right: each half of the block has a barrier of its own, and reads what that half has written.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @halves(%data: memref<128xi32>)
        workgroup(%slots: memref<128xi32, #gpu.address_space<workgroup>>) kernel {
      %flip = arith.constant 63 : index
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
      %other = memref.load %slots[%mirror] : memref<128xi32, #gpu.address_space<workgroup>>
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

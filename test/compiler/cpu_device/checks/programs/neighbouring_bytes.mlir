// Right: threads write neighbouring bytes of the same word.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @bytes(%data: memref<64xi32>)
        workgroup(%slots: memref<64xi8, #gpu.address_space<workgroup>>) kernel {
      %flip = arith.constant 63 : index
      %thread = gpu.thread_id x
      %mine = arith.index_cast %thread : index to i8
      memref.store %mine, %slots[%thread] : memref<64xi8, #gpu.address_space<workgroup>>
      gpu.barrier
      %mirror = arith.xori %thread, %flip : index
      %other = memref.load %slots[%mirror] : memref<64xi8, #gpu.address_space<workgroup>>
      %wide = arith.extui %other : i8 to i32
      memref.store %wide, %data[%thread] : memref<64xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %data = gpu.alloc () : memref<64xi32>
    gpu.launch_func @kernels::@bytes blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<64xi32>)
    gpu.dealloc %data : memref<64xi32>
    return
  }
}

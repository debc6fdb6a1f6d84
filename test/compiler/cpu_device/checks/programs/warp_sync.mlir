// Right: threads read what others of their warp have written, after the warp has met.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @warps(%data: memref<64xi32>)
        workgroup(%slots: memref<64xi32, #gpu.address_space<workgroup>>) kernel {
      %flip = arith.constant 31 : index
      %thread = gpu.thread_id x
      %mask = arith.constant -1 : i32
      %mine = arith.index_cast %thread : index to i32
      memref.store %mine, %slots[%thread] : memref<64xi32, #gpu.address_space<workgroup>>
      nvvm.bar.warp.sync %mask : i32
      %mirror = arith.xori %thread, %flip : index
      %other = memref.load %slots[%mirror] : memref<64xi32, #gpu.address_space<workgroup>>
      memref.store %other, %data[%thread] : memref<64xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %data = gpu.alloc () : memref<64xi32>
    gpu.launch_func @kernels::@warps blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<64xi32>)
    gpu.dealloc %data : memref<64xi32>
    return
  }
}

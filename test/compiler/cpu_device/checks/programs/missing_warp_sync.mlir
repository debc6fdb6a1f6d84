// Half of each warp meets, which does not order the other half.
// EXPECT: race: read of 4 bytes in kernel .*warps.* at .*missing_warp_sync.mlir:FAULT:16, block \(0,0,0\) thread \(\d+,0,0\), and write of 4 bytes
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @warps(%data: memref<64xi32>)
        workgroup(%slots: memref<64xi32, #gpu.address_space<workgroup>>) kernel {
      %flip = arith.constant 31 : index
      %thread = gpu.thread_id x
      %mine = arith.index_cast %thread : index to i32
      memref.store %mine, %slots[%thread] : memref<64xi32, #gpu.address_space<workgroup>>
      %half = arith.constant 16 : index
      %lane = arith.andi %thread, %flip : index
      %low = arith.cmpi ult, %lane, %half : index
      %low_half = arith.constant 0xffff : i32
      scf.if %low {
        nvvm.bar.warp.sync %low_half : i32
      }
      %mirror = arith.xori %thread, %flip : index
      %other = memref.load %slots[%mirror] : memref<64xi32, #gpu.address_space<workgroup>> // FAULT
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

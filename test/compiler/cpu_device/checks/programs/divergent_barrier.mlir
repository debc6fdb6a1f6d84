// Half of the block's threads never come to the barrier: they wait at another.
// EXPECT: divergent barrier in kernel .*half.* \(.*divergent_barrier.mlir:\d+\): block \(0,0,0\): .*divergent_barrier.mlir:FAULT:
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @half(%data: memref<64xi32>)
        workgroup(%slots: memref<64xi32, #gpu.address_space<workgroup>>) kernel {
      %middle = arith.constant 32 : index
      %thread = gpu.thread_id x
      %value = arith.constant 1 : i32
      %low = arith.cmpi ult, %thread, %middle : index
      scf.if %low {
        memref.store %value, %slots[%thread] : memref<64xi32, #gpu.address_space<workgroup>>
        gpu.barrier // FAULT
        memref.store %value, %data[%thread] : memref<64xi32>
      } else {
        gpu.barrier
      }
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %data = gpu.alloc () : memref<64xi32>
    gpu.launch_func @kernels::@half blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<64xi32>)
    gpu.dealloc %data : memref<64xi32>
    return
  }
}

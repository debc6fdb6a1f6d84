// The counts are read while other threads may still count.
// EXPECT: race: (atomic access|read) of 4 bytes in kernel .*count.* at .*, and (atomic access|read) of 4 bytes
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @count(%data: memref<64xi32>)
        workgroup(%bins: memref<8xi32, #gpu.address_space<workgroup>>) kernel {
      %eight = arith.constant 8 : index
      %seven = arith.constant 7 : index
      %thread = gpu.thread_id x
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %bin = arith.andi %thread, %seven : index
      %clears = arith.cmpi ult, %thread, %eight : index
      scf.if %clears {
        memref.store %zero, %bins[%thread] : memref<8xi32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %old = memref.atomic_rmw addi %one, %bins[%bin] : (i32, memref<8xi32, #gpu.address_space<workgroup>>) -> i32
      %total = memref.load %bins[%bin] : memref<8xi32, #gpu.address_space<workgroup>>
      memref.store %total, %data[%thread] : memref<64xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %data = gpu.alloc () : memref<64xi32>
    gpu.launch_func @kernels::@count blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<64xi32>)
    gpu.dealloc %data : memref<64xi32>
    return
  }
}

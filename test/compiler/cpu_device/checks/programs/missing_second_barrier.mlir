// A loop's barrier keeps reads after the writes, but not the next turn's writes after the reads.
// EXPECT: race: write of 4 bytes in kernel .*turns.* at .*missing_second_barrier.mlir:FAULT:9, block \(0,0,0\) thread \(\d+,0,0\), and read of 4 bytes at .*missing_second_barrier.mlir:FIRST:\d+ by thread \(\d+,0,0\)
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @turns(%data: memref<64xi32>)
        workgroup(%slots: memref<64xi32, #gpu.address_space<workgroup>>) kernel {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %count = arith.constant 4 : index
      %last = arith.constant 63 : index
      %thread = gpu.thread_id x
      %mirror = arith.subi %last, %thread : index
      %mine = arith.index_cast %thread : index to i32
      %sum = scf.for %turn = %zero to %count step %one iter_args(%so_far = %mine) -> i32 {
        memref.store %so_far, %slots[%thread] : memref<64xi32, #gpu.address_space<workgroup>> // FAULT
        gpu.barrier
        %other = memref.load %slots[%mirror] : memref<64xi32, #gpu.address_space<workgroup>> // FIRST
        %next = arith.addi %so_far, %other : i32
        scf.yield %next : i32
      }
      memref.store %sum, %data[%thread] : memref<64xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %data = gpu.alloc () : memref<64xi32>
    gpu.launch_func @kernels::@turns blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%data : memref<64xi32>)
    gpu.dealloc %data : memref<64xi32>
    return
  }
}

// Threads read what other threads write, with no barrier between.
// EXPECT: race: (read of 4 bytes in kernel .*reverse.* at .*missing_barrier.mlir:FAULT:16, block \(0,0,0\) thread \(0,0,0\), and write of 4 bytes|write of 4 bytes in kernel .*reverse.* at .*missing_barrier.mlir:FIRST:7, block \(0,0,0\) thread \(\d+,0,0\), and read of 4 bytes at .*missing_barrier.mlir:FAULT:16) .*with nothing that orders them: address 0x[0-9a-f]+ is at byte \d+ of the block's shared variable .* of 256 bytes
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reverse(%data: memref<64xi32>)
        workgroup(%slots: memref<64xi32, #gpu.address_space<workgroup>>) kernel {
      %last = arith.constant 63 : index
      %thread = gpu.thread_id x
      %mine = arith.index_cast %thread : index to i32
      memref.store %mine, %slots[%thread] : memref<64xi32, #gpu.address_space<workgroup>> // FIRST
      %mirror = arith.subi %last, %thread : index
      %other = memref.load %slots[%mirror] : memref<64xi32, #gpu.address_space<workgroup>> // FAULT
      memref.store %other, %data[%thread] : memref<64xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %data = gpu.alloc () : memref<64xi32>
    gpu.launch_func @kernels::@reverse blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%data : memref<64xi32>)
    gpu.dealloc %data : memref<64xi32>
    return
  }
}

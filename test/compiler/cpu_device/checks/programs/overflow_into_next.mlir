// The last thread writes behind the first of two shared arrays, into no other.
// EXPECT: out-of-bounds write of 4 bytes in kernel .*both.* at .*overflow_into_next.mlir:FAULT:7, block \(0,0,0\) thread \(31,0,0\): address 0x[0-9a-f]+ is 0 bytes after the block's shared variable .* of 128 bytes
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @both(%data: memref<32xi32>)
        workgroup(%left: memref<32xi32, #gpu.address_space<workgroup>>,
                  %right: memref<32xi32, #gpu.address_space<workgroup>>) kernel {
      %one = arith.constant 1 : index
      %thread = gpu.thread_id x
      %value = arith.constant 1 : i32
      %next = arith.addi %thread, %one : index
      memref.store %value, %left[%thread] : memref<32xi32, #gpu.address_space<workgroup>>
      memref.store %value, %right[%thread] : memref<32xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      memref.store %value, %left[%next] : memref<32xi32, #gpu.address_space<workgroup>> // FAULT
      gpu.barrier
      %a = memref.load %left[%one] : memref<32xi32, #gpu.address_space<workgroup>>
      %b = memref.load %right[%thread] : memref<32xi32, #gpu.address_space<workgroup>>
      %sum = arith.addi %a, %b : i32
      memref.store %sum, %data[%thread] : memref<32xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %data = gpu.alloc () : memref<32xi32>
    gpu.launch_func @kernels::@both blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<32xi32>)
    gpu.dealloc %data : memref<32xi32>
    return
  }
}

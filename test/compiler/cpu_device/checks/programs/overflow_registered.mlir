// Host memory that is registered with the device: the last vector begins in it and ends past it.
// EXPECT: out-of-bounds write of 16 bytes in kernel .*fill.* at .*overflow_registered.mlir:FAULT:7, block \(0,0,0\) thread \(1,0,0\): address 0x[0-9a-f]+ is not memory of the device
// EXPECT: cudaErrorIllegalAddress
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%data: memref<6xf32>) kernel {
      %thread = gpu.thread_id x
      %four = arith.constant 4 : index
      %value = arith.constant dense<1.0> : vector<4xf32>
      %place = arith.muli %thread, %four : index
      vector.store %value, %data[%place] {alignment = 16} : memref<6xf32>, vector<4xf32> // FAULT
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %data = memref.alloc() {alignment = 64} : memref<6xf32>
    %any = memref.cast %data : memref<6xf32> to memref<*xf32>
    gpu.host_register %any : memref<*xf32>
    gpu.launch_func @kernels::@fill blocks in (%one, %one, %one) threads in (%two, %one, %one)
        args(%data : memref<6xf32>)
    gpu.host_unregister %any : memref<*xf32>
    memref.dealloc %data : memref<6xf32>
    return
  }
}

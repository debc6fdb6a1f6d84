// The program ends while a kernel is still to run that nobody waited for.
// EXPECT: stream \d+ was never waited for: kernel .*fill.* \(.*never_waited.mlir:KERNEL\) is still to run in it when the program ends
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%data: memref<256xf32>) kernel { // KERNEL
      %thread = gpu.thread_id x
      %value = arith.constant 1.0 : f32
      memref.store %value, %data[%thread] : memref<256xf32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %t0 = gpu.wait async
    %data, %t1 = gpu.alloc async [%t0] () : memref<256xf32>
    %t2 = gpu.launch_func async [%t1] @kernels::@fill blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%data : memref<256xf32>)
    return
  }
}

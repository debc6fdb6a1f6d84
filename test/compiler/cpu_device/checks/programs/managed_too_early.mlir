// The host reads memory of both sides before it has waited for the kernel that fills it.
// EXPECT: host code reads memory that is in use by the device: address 0x[0-9a-f]+ is at byte 0 of an allocation of 1024 bytes \(cudaMallocManaged, the program's allocation 1\): kernel .*fill.* \(.*managed_too_early.mlir:KERNEL\), enqueued in stream \d+, uses it and was never waited for
// PRINTS: launched
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
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %data = gpu.alloc host_shared () : memref<256xf32>
    %t0 = gpu.wait async
    %t1 = gpu.launch_func async [%t0] @kernels::@fill blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%data : memref<256xf32>)
    vector.print str "launched\n"
    %value = memref.load %data[%zero] : memref<256xf32>
    vector.print %value : f32
    gpu.wait [%t1]
    return
  }
}

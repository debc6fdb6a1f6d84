// The host reads memory of the device.
// EXPECT: host code reads memory of the device: address 0x[0-9a-f]+ is at byte 8 of an allocation of 64 bytes \(cudaMalloc(Async)?, the program's allocation 1\)
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%data: memref<16xf32>) kernel {
      %thread = gpu.thread_id x
      %value = arith.constant 1.0 : f32
      memref.store %value, %data[%thread] : memref<16xf32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %threads = arith.constant 16 : index
    %data = gpu.alloc () : memref<16xf32>
    gpu.launch_func @kernels::@fill blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<16xf32>)
    %value = memref.load %data[%two] : memref<16xf32>
    vector.print %value : f32
    return
  }
}

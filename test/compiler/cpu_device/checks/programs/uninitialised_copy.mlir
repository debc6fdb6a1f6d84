// A part of what is copied to the host was never written.
// EXPECT: read of memory that nothing wrote: a copy of 64 bytes to the host takes 16 such bytes: address 0x[0-9a-f]+ is at byte 48 of an allocation of 64 bytes
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
    %threads = arith.constant 12 : index
    %data = gpu.alloc () : memref<16xf32>
    gpu.launch_func @kernels::@fill blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        args(%data : memref<16xf32>)
    %host = memref.alloc() : memref<16xf32>
    gpu.memcpy %host, %data : memref<16xf32>, memref<16xf32>
    gpu.dealloc %data : memref<16xf32>
    memref.dealloc %host : memref<16xf32>
    return
  }
}

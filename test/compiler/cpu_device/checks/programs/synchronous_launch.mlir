// Right: the launch is not async, and waits for the copies that write what it reads, though none of
// its tokens says so. Upstream's examples for NVGPU are written like this.
// PRINTS: 3
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add(%from: memref<256xf32>, %to: memref<256xf32>) kernel {
      %thread = gpu.thread_id x
      %one = memref.load %from[%thread] : memref<256xf32>
      %other = memref.load %to[%thread] : memref<256xf32>
      %sum = arith.addf %one, %other : f32
      memref.store %sum, %to[%thread] : memref<256xf32>
      gpu.return
    }
  }
  func.func @main() {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %x = memref.alloc() : memref<256xf32>
    %y = memref.alloc() : memref<256xf32>
    %first = arith.constant 1.0 : f32
    %second = arith.constant 2.0 : f32
    linalg.fill ins(%first : f32) outs(%x : memref<256xf32>)
    linalg.fill ins(%second : f32) outs(%y : memref<256xf32>)
    %t0 = gpu.wait async
    %dx, %t1 = gpu.alloc async [%t0] () : memref<256xf32>
    %dy, %t2 = gpu.alloc async [%t1] () : memref<256xf32>
    %t3 = gpu.memcpy async [%t2] %dx, %x : memref<256xf32>, memref<256xf32>
    %t4 = gpu.memcpy async [%t3] %dy, %y : memref<256xf32>, memref<256xf32>
    %t5 = gpu.wait async [%t4]
    gpu.launch_func @kernels::@add blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%dx : memref<256xf32>, %dy : memref<256xf32>)
    %t6 = gpu.memcpy async [%t5] %y, %dy : memref<256xf32>, memref<256xf32>
    gpu.wait [%t6]
    %sum = memref.load %y[%zero] : memref<256xf32>
    vector.print %sum : f32
    memref.dealloc %x : memref<256xf32>
    memref.dealloc %y : memref<256xf32>
    return
  }
}

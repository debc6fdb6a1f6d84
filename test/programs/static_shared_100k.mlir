// A block reverses 25,600 integers through 100 KB of workgroup memory: past what CUDA calls static.
module attributes {gpu.container_module} {
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

  gpu.module @reversal {
    gpu.func @reverse(%buffer: memref<25600xi32>)
        workgroup(%tile: memref<25600xi32, #gpu.address_space<workgroup>>) kernel {
      %count = arith.constant 25600 : index
      %last = arith.constant 25599 : index
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      scf.for %i = %thread to %count step %threads {
        %value = memref.load %buffer[%i] : memref<25600xi32>
        memref.store %value, %tile[%i] : memref<25600xi32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      scf.for %i = %thread to %count step %threads {
        %mirror = arith.subi %last, %i : index
        %value = memref.load %tile[%mirror] : memref<25600xi32, #gpu.address_space<workgroup>>
        memref.store %value, %buffer[%i] : memref<25600xi32>
      }
      gpu.return
    }
  }

  func.func @main() {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %count = arith.constant 25600 : index
    %threads = arith.constant 256 : index
    %host = memref.alloc() : memref<25600xi32>
    scf.for %i = %zero to %count step %one {
      %value = arith.index_cast %i : index to i32
      memref.store %value, %host[%i] : memref<25600xi32>
    }
    %device = gpu.alloc () : memref<25600xi32>
    gpu.memcpy %device, %host : memref<25600xi32>, memref<25600xi32>
    gpu.launch_func @reversal::@reverse blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%device : memref<25600xi32>)
    gpu.memcpy %host, %device : memref<25600xi32>, memref<25600xi32>
    %ends = memref.subview %host[0][4][8533]
        : memref<25600xi32> to memref<4xi32, strided<[8533]>>
    %shown = memref.alloc() : memref<4xi32>
    memref.copy %ends, %shown : memref<4xi32, strided<[8533]>> to memref<4xi32>
    %any = memref.cast %shown : memref<4xi32> to memref<*xi32>
    call @printMemrefI32(%any) : (memref<*xi32>) -> ()
    return
  }
}

// Two gpu.modules hold kernels of the same name and different bodies; each launch runs its own.
module attributes {gpu.container_module} {
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

  gpu.module @first {
    gpu.func @write(%out: memref<2xi32>) kernel {
      %at = arith.constant 0 : index
      %value = arith.constant 11 : i32
      memref.store %value, %out[%at] : memref<2xi32>
      gpu.return
    }
  }
  gpu.module @second {
    gpu.func @write(%out: memref<2xi32>) kernel {
      %at = arith.constant 1 : index
      %value = arith.constant 22 : i32
      memref.store %value, %out[%at] : memref<2xi32>
      gpu.return
    }
  }

  func.func @main() {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %device = gpu.alloc () : memref<2xi32>
    gpu.memset %device, %zero : memref<2xi32>, i32
    gpu.launch_func @first::@write blocks in (%one, %one, %one) threads in (%one, %one, %one)
        args(%device : memref<2xi32>)
    gpu.launch_func @second::@write blocks in (%one, %one, %one) threads in (%one, %one, %one)
        args(%device : memref<2xi32>)
    %host = memref.alloc() : memref<2xi32>
    gpu.memcpy %host, %device : memref<2xi32>, memref<2xi32>
    %any = memref.cast %host : memref<2xi32> to memref<*xi32>
    call @printMemrefI32(%any) : (memref<*xi32>) -> ()
    return
  }
}

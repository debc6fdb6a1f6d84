// Fills a buffer with exp(sqrt(i)) on the device and prints it.
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %count = arith.constant 10 : index
  %one = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %device = gpu.alloc (%count) : memref<?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
    %inside = arith.cmpi ult, %tx, %count : index
    scf.if %inside {
      %number = arith.index_cast %tx : index to i32
      %x = arith.sitofp %number : i32 to f32
      %root = math.sqrt %x : f32
      %y = math.exp %root : f32
      memref.store %y, %device[%tx] : memref<?xf32>
    }
    gpu.terminator
  }
  %host = memref.alloc(%count) : memref<?xf32>
  gpu.memcpy %host, %device : memref<?xf32>, memref<?xf32>
  gpu.dealloc %device : memref<?xf32>
  %any = memref.cast %host : memref<?xf32> to memref<*xf32>
  call @printMemrefF32(%any) : (memref<*xf32>) -> ()
  memref.dealloc %host : memref<?xf32>
  return
}

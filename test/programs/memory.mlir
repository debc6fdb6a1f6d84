// Every kind of memory and copy: managed memory, fills the runtime does and fills that take a
// kernel, pinned host memory used by a kernel, strided copies both ways, asynchronous chains
// through a loop and a function.
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(memref<*xf64>) attributes {llvm.emit_c_interface}

// Adds one to every element, after `ready`.
func.func private @increment(%ready: !gpu.async.token, %buffer: memref<4x4xf32>)
    -> !gpu.async.token {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %done = gpu.launch async [%ready]
      blocks(%bx, %by, %bz) in (%gx = %four, %gy = %one, %gz = %one)
      threads(%tx, %ty, %tz) in (%sx = %four, %sy = %one, %sz = %one) {
    %step = arith.constant 1.0 : f32
    %old = memref.load %buffer[%bx, %tx] : memref<4x4xf32>
    %new = arith.addf %old, %step : f32
    memref.store %new, %buffer[%bx, %tx] : memref<4x4xf32>
    gpu.terminator
  }
  return %done : !gpu.async.token
}

func.func @main() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %nothing = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f64
  %seven = arith.constant 7.0 : f32

  // Pinned host memory: [[3, 3, 3, 3] ...] after three increments of zeros.
  %pinned = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%nothing : f32) outs(%pinned : memref<4x4xf32>)
  %any_pinned = memref.cast %pinned : memref<4x4xf32> to memref<*xf32>
  gpu.host_register %any_pinned : memref<*xf32>
  %start = gpu.wait async
  %end = scf.for %i = %zero to %three step %one iter_args(%ready = %start) -> !gpu.async.token {
    %next = func.call @increment(%ready, %pinned)
        : (!gpu.async.token, memref<4x4xf32>) -> !gpu.async.token
    scf.yield %next : !gpu.async.token
  }
  gpu.wait [%end]
  gpu.host_unregister %any_pinned : memref<*xf32>
  call @printMemrefF32(%any_pinned) : (memref<*xf32>) -> ()

  // Managed memory of f64, filled by a kernel and read by the host: [0.5, 0.5, 0.5].
  %managed = gpu.alloc host_shared () : memref<3xf64>
  gpu.memset %managed, %half : memref<3xf64>, f64
  %any_managed = memref.cast %managed : memref<3xf64> to memref<*xf64>
  call @printMemrefF64(%any_managed) : (memref<*xf64>) -> ()
  gpu.dealloc %managed : memref<3xf64>

  // A device matrix of zeros whose second and fourth columns are filled with 7, one of them then
  // overwritten by a strided copy from the host: rows 0 7 0 3.
  %device = gpu.alloc () : memref<4x4xf32, 1>
  gpu.memset %device, %nothing : memref<4x4xf32, 1>, f32
  %odd = memref.subview %device[0, 1][4, 2][1, 2]
      : memref<4x4xf32, 1> to memref<4x2xf32, strided<[4, 2], offset: 1>, 1>
  gpu.memset %odd, %seven : memref<4x2xf32, strided<[4, 2], offset: 1>, 1>, f32
  %last = memref.subview %device[0, 3][4, 1][1, 1]
      : memref<4x4xf32, 1> to memref<4x1xf32, strided<[4, 1], offset: 3>, 1>
  %first_host = memref.subview %pinned[0, 0][4, 1][1, 1]
      : memref<4x4xf32> to memref<4x1xf32, strided<[4, 1]>>
  %t0 = gpu.wait async
  %t1 = gpu.memcpy async [%t0] %last, %first_host
      : memref<4x1xf32, strided<[4, 1], offset: 3>, 1>, memref<4x1xf32, strided<[4, 1]>>
  %copy = memref.alloc() : memref<4x4xf32>
  %t2 = gpu.memcpy async [%t1] %copy, %device : memref<4x4xf32>, memref<4x4xf32, 1>
  %t3 = gpu.dealloc async [%t2] %device : memref<4x4xf32, 1>
  gpu.wait [%t3]
  %any_copy = memref.cast %copy : memref<4x4xf32> to memref<*xf32>
  call @printMemrefF32(%any_copy) : (memref<*xf32>) -> ()
  return
}

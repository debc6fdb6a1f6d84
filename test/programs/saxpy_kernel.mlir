// The device half of saxpy: y = a * x + y over device buffers.
func.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %threads = arith.constant 256 : index
  %count = memref.dim %x, %zero : memref<?xf32>
  %blocks = arith.ceildivui %count, %threads : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
    %base = arith.muli %bx, %sx : index
    %i = arith.addi %base, %tx : index
    %inside = arith.cmpi ult, %i, %count : index
    scf.if %inside {
      %xi = memref.load %x[%i] : memref<?xf32>
      %yi = memref.load %y[%i] : memref<?xf32>
      %r = math.fma %a, %xi, %yi : f32
      memref.store %r, %y[%i] : memref<?xf32>
    }
    gpu.terminator
  }
  return
}

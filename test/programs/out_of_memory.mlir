// More memory than any machine has is an error.
func.func @main() {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant 1000000000000000 : index
  %memory = gpu.alloc (%bytes) : memref<?xi8>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %zero = arith.constant 0 : i8
    memref.store %zero, %memory[%tx] : memref<?xi8>
    gpu.terminator
  }
  gpu.dealloc %memory : memref<?xi8>
  return
}

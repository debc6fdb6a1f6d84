// Prints from the device: integers, floats, an index, and no arguments at all.
func.func @main() {
  %one = arith.constant 1 : index
  %threads = arith.constant 3 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
    %number = arith.index_cast %tx : index to i32
    %float = arith.sitofp %number : i32 to f32
    %half = arith.constant 0.5 : f32
    %value = arith.mulf %float, %half : f32
    %zero = arith.constant 0 : index
    %first = arith.cmpi eq, %tx, %zero : index
    scf.if %first {
      gpu.printf "from the device\n"
    }
    gpu.printf "thread %lld: %d halves are %g\n", %tx, %number, %value : index, i32, f32
    gpu.terminator
  }
  return
}

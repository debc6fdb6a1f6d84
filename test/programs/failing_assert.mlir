// Thread 5 fails an assertion: the program ends with its message and a non-zero code.
func.func private @printI64(i64)
func.func @main() {
  %one = arith.constant 1 : index
  %threads = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
    %five = arith.constant 5 : index
    %fine = arith.cmpi ne, %tx, %five : index
    cf.assert %fine, "the fifth thread is not welcome"
    gpu.terminator
  }
  // Never reached.
  %number = arith.constant 1 : i64
  call @printI64(%number) : (i64) -> ()
  return
}

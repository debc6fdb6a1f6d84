func.func @main() {
  %one = arith.constant 1 : index
  %threads = arith.constant 4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
    gpu.printf "thread %lld of %lld\n", %tx, %sx : index, index
    gpu.terminator
  }
  return
}

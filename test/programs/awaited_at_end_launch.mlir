// Launches a kernel that prints and fails, and waits for nothing.
func.func @launch() {
  %one = arith.constant 1 : index
  %t = gpu.wait async
  %t2 = gpu.launch async [%t] blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
    gpu.printf "printed at the end\n"
    %no = arith.constant false
    cf.assert %no, "and failed"
    gpu.terminator
  }
  return
}

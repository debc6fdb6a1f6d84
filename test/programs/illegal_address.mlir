// A kernel that writes where no memory is fails, and what follows reports it.
func.func @main() {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %address = arith.constant 64 : i64
    %pointer = llvm.inttoptr %address : i64 to !llvm.ptr
    %value = arith.constant 1 : i32
    llvm.store volatile %value, %pointer : i32, !llvm.ptr
    gpu.terminator
  }
  return
}

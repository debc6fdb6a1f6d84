// The largest launches that every device takes: 65,535 blocks in y and in z, 1,024 threads a block,
// 64 threads in z. Each block or thread counts itself. Prints the counts.
func.func private @printI64(i64)
func.func private @printNewline()

func.func @count(%gx: index, %gy: index, %gz: index, %bx: index, %by: index, %bz: index) {
  %zero = arith.constant 0 : index
  %counts = gpu.alloc host_shared () : memref<1xi64>
  %none = arith.constant 0 : i64
  memref.store %none, %counts[%zero] : memref<1xi64>
  gpu.launch blocks(%ix, %iy, %iz) in (%sx = %gx, %sy = %gy, %sz = %gz)
             threads(%tx, %ty, %tz) in (%ux = %bx, %uy = %by, %uz = %bz) {
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : index
    %old = memref.atomic_rmw addi %one, %counts[%c0] : (i64, memref<1xi64>) -> i64
    gpu.terminator
  }
  %count = memref.load %counts[%zero] : memref<1xi64>
  call @printI64(%count) : (i64) -> ()
  call @printNewline() : () -> ()
  gpu.dealloc %counts : memref<1xi64>
  return
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %c65535 = arith.constant 65535 : index
  %c100000 = arith.constant 100000 : index
  call @count(%c1, %c65535, %c1, %c1, %c1, %c1) : (index, index, index, index, index, index) -> ()
  call @count(%c1, %c1, %c65535, %c1, %c1, %c1) : (index, index, index, index, index, index) -> ()
  call @count(%c100000, %c1, %c1, %c1, %c1, %c1) : (index, index, index, index, index, index) -> ()
  call @count(%c1, %c1, %c1, %c1024, %c1, %c1) : (index, index, index, index, index, index) -> ()
  call @count(%c1, %c1, %c1, %c1, %c1024, %c1) : (index, index, index, index, index, index) -> ()
  call @count(%c1, %c1, %c1, %c1, %c1, %c64) : (index, index, index, index, index, index) -> ()
  return
}

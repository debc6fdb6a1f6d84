// A grid without blocks is an error.
memref.global "private" @sizes : memref<7xindex> = dense<[0, 1, 1, 32, 1, 1, 0]>

func.func @size(%i: index) -> index {
  %sizes = memref.get_global @sizes : memref<7xindex>
  %size = memref.load %sizes[%i] : memref<7xindex>
  return %size : index
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %gx = call @size(%c0) : (index) -> index
  %gy = call @size(%c1) : (index) -> index
  %gz = call @size(%c2) : (index) -> index
  %bx = call @size(%c3) : (index) -> index
  %by = call @size(%c4) : (index) -> index
  %bz = call @size(%c5) : (index) -> index
  %bytes = call @size(%c6) : (index) -> index
  %shared = arith.index_cast %bytes : index to i32
  gpu.launch blocks(%ix, %iy, %iz) in (%sx = %gx, %sy = %gy, %sz = %gz)
             threads(%tx, %ty, %tz) in (%ux = %bx, %uy = %by, %uz = %bz)
             dynamic_shared_memory_size %shared {
    gpu.printf "no thread may run\n"
    gpu.terminator
  }
  return
}

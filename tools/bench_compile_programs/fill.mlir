// out[i] = exp(sqrt(i)) over 2^20 numbers; prints one of them.
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant 1048576 : index
  %block = arith.constant 256 : index
  %grid = arith.ceildivui %count, %block : index
  %device_out = gpu.alloc (%count) : memref<?xf32>
  gpu.launch
      blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
    %first = arith.muli %bx, %sx : index
    %i = arith.addi %first, %tx : index
    %inside = arith.cmpi ult, %i, %count : index
    scf.if %inside {
      %integer = arith.index_cast %i : index to i32
      %number = arith.sitofp %integer : i32 to f32
      %root = math.sqrt %number : f32
      %power = math.exp %root : f32
      memref.store %power, %device_out[%i] : memref<?xf32>
    }
    gpu.terminator
  }
  %out = memref.alloc(%count) : memref<?xf32>
  gpu.memcpy %out, %device_out : memref<?xf32>, memref<?xf32>
  %place = arith.constant 100 : index
  %value = memref.load %out[%place] : memref<?xf32>
  vector.print %value : f32
  gpu.dealloc %device_out : memref<?xf32>
  memref.dealloc %out : memref<?xf32>
  return
}

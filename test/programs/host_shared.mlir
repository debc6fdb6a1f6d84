// Memory that the host shares, allocated and freed in a stream: a kernel writes what the host reads.
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %start = gpu.wait async
  %m, %t = gpu.alloc async [%start] host_shared () : memref<8xf32>
  %k = gpu.launch async [%t] blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %i = arith.index_cast %tx : index to i32
    %f = arith.sitofp %i : i32 to f32
    memref.store %f, %m[%tx] : memref<8xf32>
    gpu.terminator
  }
  gpu.wait [%k]
  %v = memref.load %m[%c1] : memref<8xf32>
  vector.print %v : f32
  %again = gpu.wait async
  %u = gpu.dealloc async [%again] %m : memref<8xf32>
  %d, %dt = gpu.alloc async [%u] () : memref<8xf32>
  %e = gpu.dealloc async [%dt] %d : memref<8xf32>
  gpu.wait [%e]
  %s = gpu.alloc host_shared () : memref<8xf32>
  gpu.dealloc %s : memref<8xf32>
  return
}

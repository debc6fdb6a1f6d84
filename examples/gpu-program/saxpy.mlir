// y = a * x + y over 2^20 numbers on the GPU, then a check and a few values on the host.

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant 1048576 : index
  %block = arith.constant 256 : index
  %grid = arith.ceildivui %count, %block : index
  %a = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f32

  // Host memory: x[i] = i, y[i] = 1.
  %x = memref.alloc(%count) : memref<?xf32>
  %y = memref.alloc(%count) : memref<?xf32>
  scf.for %i = %c0 to %count step %c1 {
    %integer = arith.index_cast %i : index to i32
    %number = arith.sitofp %integer : i32 to f32
    memref.store %number, %x[%i] : memref<?xf32>
    memref.store %one, %y[%i] : memref<?xf32>
  }

  // To the device: what takes and gives a token runs on one stream, in this order.
  %start = gpu.wait async
  %device_x, %t0 = gpu.alloc async [%start] (%count) : memref<?xf32>
  %device_y, %t1 = gpu.alloc async [%t0] (%count) : memref<?xf32>
  %t2 = gpu.memcpy async [%t1] %device_x, %x : memref<?xf32>, memref<?xf32>
  %t3 = gpu.memcpy async [%t2] %device_y, %y : memref<?xf32>, memref<?xf32>

  // The kernel: one thread an element.
  %t4 = gpu.launch async [%t3]
      blocks(%bx, %by, %bz) in (%grid_x = %grid, %grid_y = %c1, %grid_z = %c1)
      threads(%tx, %ty, %tz) in (%block_x = %block, %block_y = %c1, %block_z = %c1) {
    %first = arith.muli %bx, %block_x : index
    %i = arith.addi %first, %tx : index
    %inside = arith.cmpi ult, %i, %count : index
    scf.if %inside {
      %x_i = memref.load %device_x[%i] : memref<?xf32>
      %y_i = memref.load %device_y[%i] : memref<?xf32>
      %product = arith.mulf %a, %x_i : f32
      %sum = arith.addf %product, %y_i : f32
      memref.store %sum, %device_y[%i] : memref<?xf32>
    }
    gpu.terminator
  }

  // Back to the host, and wait.
  %t5 = gpu.memcpy async [%t4] %y, %device_y : memref<?xf32>, memref<?xf32>
  %t6 = gpu.dealloc async [%t5] %device_x : memref<?xf32>
  %t7 = gpu.dealloc async [%t6] %device_y : memref<?xf32>
  gpu.wait [%t7]

  // Every element must be 2 i + 1; these numbers are exact in f32.
  %zero = arith.constant 0 : index
  %wrong = scf.for %i = %c0 to %count step %c1 iter_args(%so_far = %zero) -> index {
    %integer = arith.index_cast %i : index to i32
    %number = arith.sitofp %integer : i32 to f32
    %product = arith.mulf %a, %number : f32
    %expected = arith.addf %product, %one : f32
    %got = memref.load %y[%i] : memref<?xf32>
    %differs = arith.cmpf une, %got, %expected : f32
    %more = arith.addi %so_far, %c1 : index
    %next = arith.select %differs, %more, %so_far : index
    scf.yield %next : index
  }
  vector.print str "wrong elements: "
  vector.print %wrong : index
  vector.print str "the first eight: "
  %head = vector.load %y[%c0] : memref<?xf32>, vector<8xf32>
  vector.print %head : vector<8xf32>

  memref.dealloc %x : memref<?xf32>
  memref.dealloc %y : memref<?xf32>
  return
}

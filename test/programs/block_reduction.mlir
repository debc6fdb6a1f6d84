// Sums 4 x 256 integers, one block a row, as a tree in shared memory.
module attributes {gpu.container_module} {
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

  gpu.module @reduction {
    gpu.func @row_sums(%in: memref<4x256xi32>, %out: memref<4xi32>)
        workgroup(%tile: memref<256xi32, #gpu.address_space<workgroup>>) kernel {
      %zero = arith.constant 0 : index
      %two = arith.constant 2 : index
      %half = arith.constant 128 : index
      %row = gpu.block_id x
      %thread = gpu.thread_id x
      %mine = memref.load %in[%row, %thread] : memref<4x256xi32>
      memref.store %mine, %tile[%thread] : memref<256xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      %done = scf.while (%width = %half) : (index) -> index {
        %more = arith.cmpi ugt, %width, %zero : index
        scf.condition(%more) %width : index
      } do {
      ^bb0(%width: index):
        %active = arith.cmpi ult, %thread, %width : index
        scf.if %active {
          %other = arith.addi %thread, %width : index
          %a = memref.load %tile[%thread] : memref<256xi32, #gpu.address_space<workgroup>>
          %b = memref.load %tile[%other] : memref<256xi32, #gpu.address_space<workgroup>>
          %sum = arith.addi %a, %b : i32
          memref.store %sum, %tile[%thread] : memref<256xi32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %next = arith.divui %width, %two : index
        scf.yield %next : index
      }
      %first = arith.cmpi eq, %thread, %zero : index
      scf.if %first {
        %sum = memref.load %tile[%zero] : memref<256xi32, #gpu.address_space<workgroup>>
        memref.store %sum, %out[%row] : memref<4xi32>
      }
      gpu.return
    }
  }

  func.func @main() {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %rows = arith.constant 4 : index
    %columns = arith.constant 256 : index
    %in = memref.alloc() : memref<4x256xi32>
    scf.for %i = %zero to %rows step %one {
      scf.for %j = %zero to %columns step %one {
        %product = arith.muli %i, %j : index
        %value = arith.index_cast %product : index to i32
        memref.store %value, %in[%i, %j] : memref<4x256xi32>
      }
    }
    %device_in = gpu.alloc () : memref<4x256xi32>
    %device_out = gpu.alloc () : memref<4xi32>
    gpu.memcpy %device_in, %in : memref<4x256xi32>, memref<4x256xi32>
    gpu.launch_func @reduction::@row_sums blocks in (%rows, %one, %one)
        threads in (%columns, %one, %one)
        args(%device_in : memref<4x256xi32>, %device_out : memref<4xi32>)
    %out = memref.alloc() : memref<4xi32>
    gpu.memcpy %out, %device_out : memref<4xi32>, memref<4xi32>
    %any = memref.cast %out : memref<4xi32> to memref<*xi32>
    call @printMemrefI32(%any) : (memref<*xi32>) -> ()
    return
  }
}

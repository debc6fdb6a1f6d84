// The sum of each block of 256 numbers, halving in shared memory; prints the first block's.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sum_blocks(%in: memref<?xf32>, %sums: memref<?xf32>)
        workgroup(%slots: memref<256xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c128 = arith.constant 128 : index
      %thread = gpu.thread_id x
      %block = gpu.block_id x
      %threads = gpu.block_dim x
      %first = arith.muli %block, %threads : index
      %i = arith.addi %first, %thread : index
      %value = memref.load %in[%i] : memref<?xf32>
      memref.store %value, %slots[%thread] : memref<256xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      scf.while (%half = %c128) : (index) -> index {
        %more = arith.cmpi ugt, %half, %c0 : index
        scf.condition(%more) %half : index
      } do {
      ^bb0(%half: index):
        %adds = arith.cmpi ult, %thread, %half : index
        scf.if %adds {
          %other = arith.addi %thread, %half : index
          %a = memref.load %slots[%thread] : memref<256xf32, #gpu.address_space<workgroup>>
          %b = memref.load %slots[%other] : memref<256xf32, #gpu.address_space<workgroup>>
          %sum = arith.addf %a, %b : f32
          memref.store %sum, %slots[%thread] : memref<256xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %next = arith.shrui %half, %c1 : index
        scf.yield %next : index
      }
      %is_first = arith.cmpi eq, %thread, %c0 : index
      scf.if %is_first {
        %sum = memref.load %slots[%c0] : memref<256xf32, #gpu.address_space<workgroup>>
        memref.store %sum, %sums[%block] : memref<?xf32>
      }
      gpu.return
    }
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %count = arith.constant 1048576 : index
    %block = arith.constant 256 : index
    %grid = arith.constant 4096 : index
    %in = memref.alloc(%count) : memref<?xf32>
    scf.for %i = %c0 to %count step %c1 {
      %integer = arith.index_cast %i : index to i32
      %number = arith.sitofp %integer : i32 to f32
      memref.store %number, %in[%i] : memref<?xf32>
    }
    %device_in = gpu.alloc (%count) : memref<?xf32>
    %device_sums = gpu.alloc (%grid) : memref<?xf32>
    gpu.memcpy %device_in, %in : memref<?xf32>, memref<?xf32>
    gpu.launch_func @kernels::@sum_blocks
        blocks in (%grid, %c1, %c1) threads in (%block, %c1, %c1)
        args(%device_in : memref<?xf32>, %device_sums : memref<?xf32>)
    %sums = memref.alloc(%grid) : memref<?xf32>
    gpu.memcpy %sums, %device_sums : memref<?xf32>, memref<?xf32>
    %value = memref.load %sums[%c0] : memref<?xf32>
    vector.print %value : f32
    gpu.dealloc %device_in : memref<?xf32>
    gpu.dealloc %device_sums : memref<?xf32>
    memref.dealloc %in : memref<?xf32>
    memref.dealloc %sums : memref<?xf32>
    return
  }
}

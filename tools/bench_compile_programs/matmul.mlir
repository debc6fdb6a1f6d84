// The product of two 256x256 matrices of ones, by 16x16 tiles in shared memory; prints an element.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @multiply(%a: memref<256x256xf32>, %b: memref<256x256xf32>, %c: memref<256x256xf32>)
        workgroup(%a_tile: memref<16x16xf32, #gpu.address_space<workgroup>>,
                  %b_tile: memref<16x16xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c256 = arith.constant 256 : index
      %zero = arith.constant 0.0 : f32
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tile_row = arith.muli %by, %c16 : index
      %row = arith.addi %tile_row, %ty : index
      %tile_column = arith.muli %bx, %c16 : index
      %column = arith.addi %tile_column, %tx : index
      %sum = scf.for %tile = %c0 to %c256 step %c16 iter_args(%outer = %zero) -> f32 {
        %a_column = arith.addi %tile, %tx : index
        %b_row = arith.addi %tile, %ty : index
        %a_value = memref.load %a[%row, %a_column] : memref<256x256xf32>
        %b_value = memref.load %b[%b_row, %column] : memref<256x256xf32>
        memref.store %a_value, %a_tile[%ty, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
        memref.store %b_value, %b_tile[%ty, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
        gpu.barrier
        %inner = scf.for %k = %c0 to %c16 step %c1 iter_args(%so_far = %outer) -> f32 {
          %x = memref.load %a_tile[%ty, %k] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %y = memref.load %b_tile[%k, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %next = math.fma %x, %y, %so_far : f32
          scf.yield %next : f32
        }
        gpu.barrier
        scf.yield %inner : f32
      }
      memref.store %sum, %c[%row, %column] : memref<256x256xf32>
      gpu.return
    }
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1.0 : f32
    %ones = memref.alloc() : memref<256x256xf32>
    scf.for %i = %c0 to %c256 step %c1 {
      scf.for %j = %c0 to %c256 step %c1 {
        memref.store %one, %ones[%i, %j] : memref<256x256xf32>
      }
    }
    %a = gpu.alloc () : memref<256x256xf32>
    %b = gpu.alloc () : memref<256x256xf32>
    %c = gpu.alloc () : memref<256x256xf32>
    gpu.memcpy %a, %ones : memref<256x256xf32>, memref<256x256xf32>
    gpu.memcpy %b, %ones : memref<256x256xf32>, memref<256x256xf32>
    gpu.launch_func @kernels::@multiply
        blocks in (%c16, %c16, %c1) threads in (%c16, %c16, %c1)
        args(%a : memref<256x256xf32>, %b : memref<256x256xf32>, %c : memref<256x256xf32>)
    gpu.memcpy %ones, %c : memref<256x256xf32>, memref<256x256xf32>
    %value = memref.load %ones[%c0, %c1] : memref<256x256xf32>
    vector.print %value : f32
    gpu.dealloc %a : memref<256x256xf32>
    gpu.dealloc %b : memref<256x256xf32>
    gpu.dealloc %c : memref<256x256xf32>
    memref.dealloc %ones : memref<256x256xf32>
    return
  }
}

// Asynchronous copies from global to shared memory, overlapped with work. One block goes through
// an array tile by tile with two buffers: while it works on one, the copy of the next is under
// way. The work reverses the tile, so that every thread reads what another one copied.
//
// The input has 1998 elements, 50 short of four tiles of 512: the last copies read only what
// there is and fill the rest with zeros, one of them two elements of its four.
//
// Prints "max difference 0" and the eight entries of the result where the padding ends.
// Runs on sm_80 and newer.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reverse_tiles(%input: memref<1998xf32>, %output: memref<2048xf32>)
        workgroup(%buffers: memref<2x512xf32, #gpu.address_space<workgroup>>
                      {llvm.align = 16 : i64})
        kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %tiles = arith.constant 4 : index
      %tile_size = arith.constant 512 : index
      %last_in_tile = arith.constant 511 : index
      %length = arith.constant 1998 : index
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %position = arith.muli %thread, %c4 : index

      %first_copy = nvgpu.device_async_copy %input[%position], %buffers[%c0, %position], 4
          : memref<1998xf32> to memref<2x512xf32, #gpu.address_space<workgroup>>
      %first_group = nvgpu.device_async_create_group %first_copy
      scf.for %tile = %c0 to %tiles step %c1 iter_args(%group = %first_group)
          -> (!nvgpu.device.async.token) {
        // The copy of the next tile; past the last one it reads nothing.
        %next_tile = arith.addi %tile, %c1 : index
        %next_buffer = arith.remui %next_tile, %c2 : index
        %next_start = arith.muli %next_tile, %tile_size : index
        %next_position = arith.addi %next_start, %position : index
        %beyond = arith.cmpi uge, %next_position, %length : index
        %source = arith.select %beyond, %c0, %next_position : index
        %left = arith.subi %length, %next_position : index
        %whole = arith.minsi %left, %c4 : index
        %count = arith.maxsi %whole, %c0 : index
        %copy = nvgpu.device_async_copy %input[%source], %buffers[%next_buffer, %position], 4,
            %count {bypassL1} : memref<1998xf32> to memref<2x512xf32, #gpu.address_space<workgroup>>
        %next_group = nvgpu.device_async_create_group %copy
        // All but the newest group are complete, for every thread of the block.
        nvgpu.device_async_wait %group {numGroups = 1 : i32}
        gpu.barrier

        %buffer = arith.remui %tile, %c2 : index
        %start = arith.muli %tile, %tile_size : index
        scf.for %i = %thread to %tile_size step %threads {
          %mirrored = arith.subi %last_in_tile, %i : index
          %value = memref.load %buffers[%buffer, %mirrored]
              : memref<2x512xf32, #gpu.address_space<workgroup>>
          %place = arith.addi %start, %i : index
          memref.store %value, %output[%place] : memref<2048xf32>
        }
        gpu.barrier
        scf.yield %next_group : !nvgpu.device.async.token
      }
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %input = memref.alloc() : memref<1998xf32>
    %output = memref.alloc() : memref<2048xf32>
    affine.for %i = 0 to 1998 {
      %number = affine.apply affine_map<(i) -> (i + 1)>(%i)
      %integer = arith.index_cast %number : index to i32
      %value = arith.sitofp %integer : i32 to f32
      affine.store %value, %input[%i] : memref<1998xf32>
    }

    %device_input = gpu.alloc () : memref<1998xf32>
    %device_output = gpu.alloc () : memref<2048xf32>
    gpu.memcpy %device_input, %input : memref<1998xf32>, memref<1998xf32>
    gpu.launch_func @kernels::@reverse_tiles
        blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%device_input : memref<1998xf32>, %device_output : memref<2048xf32>)
    gpu.memcpy %output, %device_output : memref<2048xf32>, memref<2048xf32>

    // Element i of tile t must be element 511 - i of the input's tile t, or zero past its end.
    %zero = arith.constant 0.0 : f32
    %largest = affine.for %tile = 0 to 4 iter_args(%outer = %zero) -> (f32) {
      %tile_largest = affine.for %i = 0 to 512 iter_args(%so_far = %outer) -> (f32) {
        %number = affine.apply affine_map<(t, i) -> (512 * t + 512 - i)>(%tile, %i)
        %integer = arith.index_cast %number : index to i32
        %last = arith.constant 1998 : i32
        %exists = arith.cmpi sle, %integer, %last : i32
        %value = arith.sitofp %integer : i32 to f32
        %expected = arith.select %exists, %value, %zero : f32
        %got = affine.load %output[512 * %tile + %i] : memref<2048xf32>
        %difference = arith.subf %got, %expected : f32
        %distance = math.absf %difference : f32
        %larger = arith.maximumf %so_far, %distance : f32
        affine.yield %larger : f32
      }
      affine.yield %tile_largest : f32
    }
    vector.print str "max difference "
    vector.print %largest : f32
    %edge = arith.constant 1582 : index
    %values = vector.load %output[%edge] : memref<2048xf32>, vector<8xf32>
    vector.print %values : vector<8xf32>

    gpu.dealloc %device_input : memref<1998xf32>
    gpu.dealloc %device_output : memref<2048xf32>
    memref.dealloc %input : memref<1998xf32>
    memref.dealloc %output : memref<2048xf32>
    return
  }
}

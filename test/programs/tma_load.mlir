// Tiles moved by the tensor memory accelerator. A 128x128 matrix is cut into tiles of 64x32 f32
// values, one for each of 4x2 blocks. In a block one thread starts the copy of the tile into
// shared memory, where an mbarrier counts the bytes that arrive.
//
// The first kernel writes its tile out with ordinary stores, plus one. The second doubles the
// tile in shared memory and lets the accelerator store it. The source has only 120 rows: the last
// tiles reach past them and must read zeros there.
//
// Prints "max difference 0", four entries of the last row and four below it, for each kernel.
// Runs on sm_90 and newer.

!tile = memref<64x32xf32, #gpu.address_space<workgroup>>
!tile_map = !nvgpu.tensormap.descriptor<tensor = !tile, swizzle = none, l2promo = none, oob = zero,
                                        interleave = none>
!barrier = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @load_and_add_one(%source: !tile_map, %result: memref<128x128xf32>)
        workgroup(%tile: !tile {llvm.align = 128 : i64}) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %rows = arith.constant 64 : index
      %columns = arith.constant 32 : index
      %tile_bytes = arith.constant 8192 : index
      %time_limit = arith.constant 10000000 : index
      %even_phase = arith.constant false
      %one = arith.constant 1.0 : f32
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %block_x = gpu.block_id x
      %block_y = gpu.block_id y
      %column = arith.muli %block_x, %columns : index
      %row = arith.muli %block_y, %rows : index
      %is_first = arith.cmpi eq, %thread, %c0 : index
      nvgpu.tma.prefetch.descriptor %source, predicate = %is_first : !tile_map

      %arrived = nvgpu.mbarrier.create -> !barrier
      scf.if %is_first {
        nvgpu.mbarrier.init %arrived[%c0], %c1 : !barrier
        // The accelerator works through another proxy; it must see the barrier initialized.
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      }
      gpu.barrier
      scf.if %is_first {
        nvgpu.mbarrier.arrive.expect_tx %arrived[%c0], %tile_bytes : !barrier
        nvgpu.tma.async.load %source[%column, %row], %arrived[%c0] to %tile
            : !tile_map, !barrier -> !tile
      }
      nvgpu.mbarrier.try_wait.parity %arrived[%c0], %even_phase, %time_limit : !barrier

      %size = arith.muli %rows, %columns : index
      scf.for %i = %thread to %size step %threads {
        %tile_row = arith.divui %i, %columns : index
        %tile_column = arith.remui %i, %columns : index
        %loaded = memref.load %tile[%tile_row, %tile_column] : !tile
        %value = arith.addf %loaded, %one : f32
        %result_row = arith.addi %row, %tile_row : index
        %result_column = arith.addi %column, %tile_column : index
        memref.store %value, %result[%result_row, %result_column] : memref<128x128xf32>
      }
      gpu.return
    }

    gpu.func @load_double_store(%source: !tile_map, %result: !tile_map)
        workgroup(%tile: !tile {llvm.align = 128 : i64}) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %rows = arith.constant 64 : index
      %columns = arith.constant 32 : index
      %tile_bytes = arith.constant 8192 : index
      %time_limit = arith.constant 10000000 : index
      %even_phase = arith.constant false
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %block_x = gpu.block_id x
      %block_y = gpu.block_id y
      %column = arith.muli %block_x, %columns : index
      %row = arith.muli %block_y, %rows : index
      %is_first = arith.cmpi eq, %thread, %c0 : index

      %arrived = nvgpu.mbarrier.create -> !barrier
      nvgpu.mbarrier.init %arrived[%c0], %c1, predicate = %is_first : !barrier
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      nvgpu.mbarrier.arrive.expect_tx %arrived[%c0], %tile_bytes, predicate = %is_first : !barrier
      nvgpu.tma.async.load %source[%column, %row], %arrived[%c0] to %tile, predicate = %is_first
          : !tile_map, !barrier -> !tile
      nvgpu.mbarrier.try_wait.parity %arrived[%c0], %even_phase, %time_limit : !barrier

      %size = arith.muli %rows, %columns : index
      scf.for %i = %thread to %size step %threads {
        %tile_row = arith.divui %i, %columns : index
        %tile_column = arith.remui %i, %columns : index
        %loaded = memref.load %tile[%tile_row, %tile_column] : !tile
        %doubled = arith.addf %loaded, %loaded : f32
        memref.store %doubled, %tile[%tile_row, %tile_column] : !tile
      }
      // Every thread's stores become visible to the accelerator before one thread starts it; the
      // block lives until it has read the tile.
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      scf.if %is_first {
        nvgpu.tma.async.store %tile to %result[%column, %row] : !tile -> !tile_map
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %grid_x = arith.constant 4 : index
    %grid_y = arith.constant 2 : index
    %threads = arith.constant 128 : index
    %tile_rows = arith.constant 64 : index
    %tile_columns = arith.constant 32 : index
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %zero = arith.constant 0.0 : f32

    %source = memref.alloc() : memref<120x128xf32>
    affine.for %i = 0 to 120 {
      affine.for %j = 0 to 128 {
        %number = affine.apply affine_map<(i, j) -> (128 * i + j)>(%i, %j)
        %integer = arith.index_cast %number : index to i32
        %value = arith.sitofp %integer : i32 to f32
        affine.store %value, %source[%i, %j] : memref<120x128xf32>
      }
    }
    %result = memref.alloc() : memref<128x128xf32>
    affine.for %i = 0 to 128 {
      affine.for %j = 0 to 128 {
        %unset = arith.constant -1.0 : f32
        affine.store %unset, %result[%i, %j] : memref<128x128xf32>
      }
    }
    %device_source = gpu.alloc () : memref<120x128xf32>
    %device_result = gpu.alloc () : memref<128x128xf32>
    gpu.memcpy %device_source, %source : memref<120x128xf32>, memref<120x128xf32>
    gpu.memcpy %device_result, %result : memref<128x128xf32>, memref<128x128xf32>

    %any_source = memref.cast %device_source : memref<120x128xf32> to memref<*xf32>
    %any_result = memref.cast %device_result : memref<128x128xf32> to memref<*xf32>
    %source_map = nvgpu.tma.create.descriptor %any_source box[%tile_rows, %tile_columns]
        : memref<*xf32> -> !tile_map
    %result_map = nvgpu.tma.create.descriptor %any_result box[%tile_rows, %tile_columns]
        : memref<*xf32> -> !tile_map

    gpu.launch_func @kernels::@load_and_add_one
        blocks in (%grid_x, %grid_y, %c1) threads in (%threads, %c1, %c1)
        args(%source_map : !tile_map, %device_result : memref<128x128xf32>)
    gpu.memcpy %result, %device_result : memref<128x128xf32>, memref<128x128xf32>
    vector.print str "load: "
    func.call @compare(%result, %one, %one) : (memref<128x128xf32>, f32, f32) -> ()

    gpu.launch_func @kernels::@load_double_store
        blocks in (%grid_x, %grid_y, %c1) threads in (%threads, %c1, %c1)
        args(%source_map : !tile_map, %result_map : !tile_map)
    gpu.memcpy %result, %device_result : memref<128x128xf32>, memref<128x128xf32>
    vector.print str "load and store: "
    func.call @compare(%result, %two, %zero) : (memref<128x128xf32>, f32, f32) -> ()

    gpu.dealloc %device_source : memref<120x128xf32>
    gpu.dealloc %device_result : memref<128x128xf32>
    memref.dealloc %source : memref<120x128xf32>
    memref.dealloc %result : memref<128x128xf32>
    return
  }

  // Compares with factor * source + term, where the source counts up and is zero past its rows.
  func.func private @compare(%result: memref<128x128xf32>, %factor: f32, %term: f32) {
    %zero = arith.constant 0.0 : f32
    %largest = affine.for %i = 0 to 128 iter_args(%outer = %zero) -> (f32) {
      %row_largest = affine.for %j = 0 to 128 iter_args(%so_far = %outer) -> (f32) {
        %number = affine.apply affine_map<(i, j) -> (128 * i + j)>(%i, %j)
        %integer = arith.index_cast %number : index to i32
        %end = arith.constant 15360 : i32
        %exists = arith.cmpi slt, %integer, %end : i32
        %counted = arith.sitofp %integer : i32 to f32
        %source = arith.select %exists, %counted, %zero : f32
        %scaled = arith.mulf %source, %factor : f32
        %expected = arith.addf %scaled, %term : f32
        %got = affine.load %result[%i, %j] : memref<128x128xf32>
        %difference = arith.subf %got, %expected : f32
        %distance = math.absf %difference : f32
        %larger = arith.maximumf %so_far, %distance : f32
        affine.yield %larger : f32
      }
      affine.yield %row_largest : f32
    }
    vector.print str "max difference "
    vector.print %largest : f32
    %column = arith.constant 124 : index
    %last_row = arith.constant 119 : index
    %beyond = arith.constant 120 : index
    %inside = vector.load %result[%last_row, %column] : memref<128x128xf32>, vector<4xf32>
    %padding = vector.load %result[%beyond, %column] : memref<128x128xf32>, vector<4xf32>
    vector.print %inside : vector<4xf32>
    vector.print %padding : vector<4xf32>
    return
  }
}

// A 128x128x128 product by the warpgroup matrix instructions, f16 inputs and f32 accumulators,
// fed by the tensor memory accelerator. One block of 128 threads, one warpgroup, does it all: a
// thread starts the copies of both inputs into dynamic shared memory with the 128-byte swizzle,
// everyone waits for the bytes at one mbarrier, then the warpgroup multiplies.
//
// A swizzled row holds 64 f16 values. So the inner dimension goes in two steps of 64, and each
// step of B, 64 rows of 128 columns, comes as two boxes of 64x64. Shared memory in bytes:
//        0  A, columns   0 to 63   128x64
//    16384  A, columns  64 to 127  128x64
//    32768  B, rows      0 to 63   64x128, as two boxes
//    49152  B, rows     64 to 127  64x128, as two boxes
//
// The inputs are small whole numbers, so the product must equal the host's triple loop exactly.
//
// Prints "max difference 0" and the first and last eight entries of rows 1 and 127.
// Runs on sm_90a only.

!shared_bytes = memref<?xi8, #gpu.address_space<workgroup>>
!a_tile = memref<128x64xf16, #gpu.address_space<workgroup>>
!b_tile = memref<64x128xf16, #gpu.address_space<workgroup>>
!b_box = memref<64x64xf16, #gpu.address_space<workgroup>>
!a_map = !nvgpu.tensormap.descriptor<tensor = !a_tile, swizzle = swizzle_128b, l2promo = none,
                                     oob = zero, interleave = none>
!b_map = !nvgpu.tensormap.descriptor<tensor = !b_box, swizzle = swizzle_128b, l2promo = none,
                                     oob = zero, interleave = none>
!a_operand = !nvgpu.warpgroup.descriptor<tensor = !a_tile>
!b_operand = !nvgpu.warpgroup.descriptor<tensor = !b_tile>
!accumulator = !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>
!barrier = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>

func.func @main() {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %shared_size = arith.constant 65536 : i32

  %a = memref.alloc() : memref<128x128xf16>
  %b = memref.alloc() : memref<128x128xf16>
  %product = memref.alloc() : memref<128x128xf32>
  call @fill_inputs(%a, %b) : (memref<128x128xf16>, memref<128x128xf16>) -> ()

  %device_a = gpu.alloc () : memref<128x128xf16>
  %device_b = gpu.alloc () : memref<128x128xf16>
  %device_product = gpu.alloc () : memref<128x128xf32>
  gpu.memcpy %device_a, %a : memref<128x128xf16>, memref<128x128xf16>
  gpu.memcpy %device_b, %b : memref<128x128xf16>, memref<128x128xf16>
  %any_a = memref.cast %device_a : memref<128x128xf16> to memref<*xf16>
  %any_b = memref.cast %device_b : memref<128x128xf16> to memref<*xf16>
  %a_map = nvgpu.tma.create.descriptor %any_a box[%c128, %c64] : memref<*xf16> -> !a_map
  %b_map = nvgpu.tma.create.descriptor %any_b box[%c64, %c64] : memref<*xf16> -> !b_map

  gpu.launch blocks(%block_x, %block_y, %block_z)
                 in (%grid_x = %c1, %grid_y = %c1, %grid_z = %c1)
             threads(%thread, %thread_y, %thread_z)
                 in (%block_size_x = %c128, %block_size_y = %c1, %block_size_z = %c1)
             dynamic_shared_memory_size %shared_size {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %half = arith.constant 64 : index
    %a1_offset = arith.constant 16384 : index
    %b0_offset = arith.constant 32768 : index
    %b0_right_offset = arith.constant 40960 : index
    %b1_offset = arith.constant 49152 : index
    %b1_right_offset = arith.constant 57344 : index
    %all_bytes = arith.constant 65536 : index
    %time_limit = arith.constant 10000000 : index
    %even_phase = arith.constant false

    %shared = gpu.dynamic_shared_memory : !shared_bytes
    %a0 = memref.view %shared[%c0][] : !shared_bytes to !a_tile
    %a1 = memref.view %shared[%a1_offset][] : !shared_bytes to !a_tile
    %b0 = memref.view %shared[%b0_offset][] : !shared_bytes to !b_tile
    %b1 = memref.view %shared[%b1_offset][] : !shared_bytes to !b_tile
    %b0_left = memref.view %shared[%b0_offset][] : !shared_bytes to !b_box
    %b0_right = memref.view %shared[%b0_right_offset][] : !shared_bytes to !b_box
    %b1_left = memref.view %shared[%b1_offset][] : !shared_bytes to !b_box
    %b1_right = memref.view %shared[%b1_right_offset][] : !shared_bytes to !b_box

    %is_first = arith.cmpi eq, %thread, %c0 : index
    %arrived = nvgpu.mbarrier.create -> !barrier
    scf.if %is_first {
      nvgpu.tma.prefetch.descriptor %a_map : !a_map
      nvgpu.tma.prefetch.descriptor %b_map : !b_map
      nvgpu.mbarrier.init %arrived[%c0], %one : !barrier
      // The accelerator works through another proxy; it must see the barrier initialized.
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    }
    gpu.barrier
    scf.if %is_first {
      // Coordinates count from the fastest dimension: column, row.
      nvgpu.mbarrier.arrive.expect_tx %arrived[%c0], %all_bytes : !barrier
      nvgpu.tma.async.load %a_map[%c0, %c0], %arrived[%c0] to %a0
          : !a_map, !barrier -> !a_tile
      nvgpu.tma.async.load %a_map[%half, %c0], %arrived[%c0] to %a1
          : !a_map, !barrier -> !a_tile
      nvgpu.tma.async.load %b_map[%c0, %c0], %arrived[%c0] to %b0_left
          : !b_map, !barrier -> !b_box
      nvgpu.tma.async.load %b_map[%half, %c0], %arrived[%c0] to %b0_right
          : !b_map, !barrier -> !b_box
      nvgpu.tma.async.load %b_map[%c0, %half], %arrived[%c0] to %b1_left
          : !b_map, !barrier -> !b_box
      nvgpu.tma.async.load %b_map[%half, %half], %arrived[%c0] to %b1_right
          : !b_map, !barrier -> !b_box
    }
    nvgpu.mbarrier.try_wait.parity %arrived[%c0], %even_phase, %time_limit : !barrier

    %a0_operand = nvgpu.warpgroup.generate.descriptor %a0, %a_map : !a_tile, !a_map -> !a_operand
    %a1_operand = nvgpu.warpgroup.generate.descriptor %a1, %a_map : !a_tile, !a_map -> !a_operand
    %b0_operand = nvgpu.warpgroup.generate.descriptor %b0, %b_map : !b_tile, !b_map -> !b_operand
    %b1_operand = nvgpu.warpgroup.generate.descriptor %b1, %b_map : !b_tile, !b_map -> !b_operand
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !accumulator
    %lower_half = nvgpu.warpgroup.mma %a0_operand, %b0_operand, %zero {transposeB, waitGroup = 0}
        : !a_operand, !b_operand, !accumulator -> !accumulator
    %sum = nvgpu.warpgroup.mma %a1_operand, %b1_operand, %lower_half {transposeB, waitGroup = 0}
        : !a_operand, !b_operand, !accumulator -> !accumulator
    nvgpu.warpgroup.mma.store %sum, %device_product : !accumulator to memref<128x128xf32>
    gpu.terminator
  }
  gpu.memcpy %product, %device_product : memref<128x128xf32>, memref<128x128xf32>

  call @compare(%a, %b, %product)
      : (memref<128x128xf16>, memref<128x128xf16>, memref<128x128xf32>) -> ()
  gpu.dealloc %device_a : memref<128x128xf16>
  gpu.dealloc %device_b : memref<128x128xf16>
  gpu.dealloc %device_product : memref<128x128xf32>
  memref.dealloc %a : memref<128x128xf16>
  memref.dealloc %b : memref<128x128xf16>
  memref.dealloc %product : memref<128x128xf32>
  return
}

// a[i][k] = (3 i + k) mod 11 - 5 and b[k][j] = (2 k + 5 j) mod 7 - 2: no symmetry that could hide
// a transposed or misplaced tile.
func.func private @fill_inputs(%a: memref<128x128xf16>, %b: memref<128x128xf16>) {
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 128 {
      %a_index = affine.apply affine_map<(i, k) -> ((3 * i + k) mod 11 - 5)>(%i, %j)
      %b_index = affine.apply affine_map<(k, j) -> ((2 * k + 5 * j) mod 7 - 2)>(%i, %j)
      %a_integer = arith.index_cast %a_index : index to i32
      %b_integer = arith.index_cast %b_index : index to i32
      %a_value = arith.sitofp %a_integer : i32 to f16
      %b_value = arith.sitofp %b_integer : i32 to f16
      affine.store %a_value, %a[%i, %j] : memref<128x128xf16>
      affine.store %b_value, %b[%i, %j] : memref<128x128xf16>
    }
  }
  return
}

// Prints the largest absolute difference from the host's product, and corners of the device's.
func.func private @compare(%a: memref<128x128xf16>, %b: memref<128x128xf16>,
                           %product: memref<128x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %largest = affine.for %i = 0 to 128 iter_args(%outer = %zero) -> (f32) {
    %row_largest = affine.for %j = 0 to 128 iter_args(%so_far = %outer) -> (f32) {
      %expected = affine.for %k = 0 to 128 iter_args(%partial = %zero) -> (f32) {
        %a_narrow = affine.load %a[%i, %k] : memref<128x128xf16>
        %b_narrow = affine.load %b[%k, %j] : memref<128x128xf16>
        %a_value = arith.extf %a_narrow : f16 to f32
        %b_value = arith.extf %b_narrow : f16 to f32
        %term = arith.mulf %a_value, %b_value : f32
        %next = arith.addf %partial, %term : f32
        affine.yield %next : f32
      }
      %got = affine.load %product[%i, %j] : memref<128x128xf32>
      %difference = arith.subf %got, %expected : f32
      %distance = math.absf %difference : f32
      %larger = arith.maximumf %so_far, %distance : f32
      affine.yield %larger : f32
    }
    affine.yield %row_largest : f32
  }
  vector.print str "max difference "
  vector.print %largest : f32
  affine.for %row = 1 to 128 step 126 {
    affine.for %column = 0 to 128 step 120 {
      %values = vector.load %product[%row, %column] : memref<128x128xf32>, vector<8xf32>
      vector.print %values : vector<8xf32>
    }
  }
  return
}

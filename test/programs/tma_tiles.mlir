// Tiles of 8 rows of 128 bytes, swizzled, in all kinds of shared memory behind an mbarrier: two
// memref.globals (one after a buffer of 24 bytes), workgroup memory, and dynamic shared memory. Row
// r of a tile has its chunk c of 16 bytes at place c ^ r, wherever the tile lies; each line is what
// lies at the eight places of a row: the chunks' numbers.
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!tile = memref<8x64xf16, 3>
!own = memref<8x64xf16, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @first : !tile
    memref.global "private" @few : memref<6xf32, 3>
    memref.global "private" @second : !tile
    func.func @show(%tile: !own) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c24 = arith.constant 24 : index
      %c56 = arith.constant 56 : index
      %c3 = arith.constant 3 : index
      scf.for %r = %c0 to %c8 step %c3 {
        %a = memref.load %tile[%r, %c0] : !own
        %b = memref.load %tile[%r, %c8] : !own
        %c = memref.load %tile[%r, %c24] : !own
        %d = memref.load %tile[%r, %c56] : !own
        %a32 = arith.extf %a : f16 to f32
        %b32 = arith.extf %b : f16 to f32
        %c32f = arith.extf %c : f16 to f32
        %d32 = arith.extf %d : f16 to f32
        gpu.printf "row %lld: %.0f %.0f %.0f %.0f\n", %r, %a32, %b32, %c32f, %d32 : index, f32, f32, f32, f32
      }
      return
    }
    gpu.func @copy(%map: !map) workgroup(%few: memref<3xf32, #gpu.address_space<workgroup>>,
                                         %third: !own) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c1024 = arith.constant 1024 : index
      %bytes = arith.constant 4096 : index
      %ticks = arith.constant 10000000 : index
      %f = arith.constant 1.0 : f32
      memref.store %f, %few[%c1] : memref<3xf32, #gpu.address_space<workgroup>>
      %few_global = memref.get_global @few : memref<6xf32, 3>
      memref.store %f, %few_global[%c1] : memref<6xf32, 3>
      %first = memref.get_global @first : !tile
      %second = memref.get_global @second : !tile
      %dynamic = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %fourth = memref.view %dynamic[%c1024][] : memref<?xi8, #gpu.address_space<workgroup>> to !own
      %bar = nvgpu.mbarrier.create -> !barriers
      nvgpu.mbarrier.init %bar[%c0], %c1 : !barriers
      nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !barriers
      nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %first : !map, !barriers -> !tile
      nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %second : !map, !barriers -> !tile
      nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %third : !map, !barriers -> !own
      nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %fourth : !map, !barriers -> !own
      %phase = arith.constant 0 : i1
      nvgpu.mbarrier.try_wait.parity %bar[%c0], %phase, %ticks : !barriers
      %first_own = memref.memory_space_cast %first : !tile to !own
      %second_own = memref.memory_space_cast %second : !tile to !own
      func.call @show(%first_own) : (!own) -> ()
      func.call @show(%second_own) : (!own) -> ()
      func.call @show(%third) : (!own) -> ()
      func.call @show(%fourth) : (!own) -> ()
      gpu.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %host = memref.alloc() : memref<8x64xf16>
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        %chunk = arith.divui %j, %c8 : index
        %number = arith.index_cast %chunk : index to i32
        %value = arith.sitofp %number : i32 to f16
        memref.store %value, %host[%i, %j] : memref<8x64xf16>
      }
    }
    %data = gpu.alloc () : memref<8x64xf16>
    gpu.memcpy %data, %host : memref<8x64xf16>, memref<8x64xf16>
    %any = memref.cast %data : memref<8x64xf16> to memref<*xf16>
    %map = nvgpu.tma.create.descriptor %any box[%c8, %c64] : memref<*xf16> -> !map
    %size = arith.constant 2048 : i32
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        dynamic_shared_memory_size %size args(%map : !map)
    return
  }
}

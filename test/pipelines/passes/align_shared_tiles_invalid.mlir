// RUN: hirc-opt %s --align-shared-tiles --split-input-file --verify-diagnostics

!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
gpu.module @view {
  func.func @copy(%m: !map, %bar: !barriers) {
    %c0 = arith.constant 0 : index
    %c136 = arith.constant 136 : index
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %tile = memref.view %bytes[%c136][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8x64xf16, #gpu.address_space<workgroup>>
    // expected-error @+1 {{the tile begins at byte 136 of its shared memory; TMA needs a multiple of 128}}
    nvgpu.tma.async.load %m[%c0, %c0], %bar[%c0] to %tile : !map, !barriers -> memref<8x64xf16, #gpu.address_space<workgroup>>
    return
  }
}

// -----

!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
gpu.module @subview {
  memref.global "private" @tiles : memref<4x8x128xf16, 3>
  func.func @copy(%m: !map, %bar: !barriers) {
    %c0 = arith.constant 0 : index
    %tiles = memref.get_global @tiles : memref<4x8x128xf16, 3>
    %third = memref.subview %tiles[2, 0, 0] [1, 8, 64] [1, 1, 1] : memref<4x8x128xf16, 3> to memref<8x64xf16, strided<[128, 1], offset: 2048>, 3>
    nvgpu.tma.async.load %m[%c0, %c0], %bar[%c0] to %third : !map, !barriers -> memref<8x64xf16, strided<[128, 1], offset: 2048>, 3>
    %off = memref.subview %tiles[0, 0, 4] [1, 8, 64] [1, 1, 1] : memref<4x8x128xf16, 3> to memref<8x64xf16, strided<[128, 1], offset: 4>, 3>
    %hidden = memref.cast %off : memref<8x64xf16, strided<[128, 1], offset: 4>, 3> to memref<8x64xf16, strided<[128, 1], offset: ?>, 3>
    // expected-error @+1 {{the tile begins at byte 8 of its shared memory; TMA needs a multiple of 128}}
    nvgpu.tma.async.load %m[%c0, %c0], %bar[%c0] to %hidden : !map, !barriers -> memref<8x64xf16, strided<[128, 1], offset: ?>, 3>
    return
  }
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
gpu.module @wgmma {
  func.func @multiply(%m: !map) {
    %c32 = arith.constant 32 : index
    %c40 = arith.constant 40 : index
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    // A part of a row of the swizzle may begin at any 16 bytes.
    %a = memref.view %bytes[%c32][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64x64xf16, #gpu.address_space<workgroup>>
    %da = nvgpu.warpgroup.generate.descriptor %a, %m : memref<64x64xf16, #gpu.address_space<workgroup>>, !map -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>>
    %b = memref.view %bytes[%c40][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64x64xf16, #gpu.address_space<workgroup>>
    // expected-error @+1 {{the tile begins at byte 40 of its shared memory; wgmma needs a multiple of 16}}
    %db = nvgpu.warpgroup.generate.descriptor %b, %m : memref<64x64xf16, #gpu.address_space<workgroup>>, !map -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>>
    return
  }
}

// RUN: hirc-opt %s --align-shared-tiles --split-input-file | FileCheck %s

// Each swizzle has its pattern; what no tile operation takes stays as it is.
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!plain = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!narrow = !nvgpu.tensormap.descriptor<tensor = memref<8x16xf16, 3>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none>
!medium = !nvgpu.tensormap.descriptor<tensor = memref<8x32xf16, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
!wide = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
gpu.module @kernels {
  // CHECK-DAG: memref.global "private" @plain : memref<8x64xf16, 3> {alignment = 128 : i64}
  // CHECK-DAG: memref.global "private" @narrow : memref<8x16xf16, 3> {alignment = 256 : i64}
  // CHECK-DAG: memref.global "private" @medium : memref<8x32xf16, 3> {alignment = 512 : i64}
  // CHECK-DAG: memref.global "private" @wide : memref<4096xi8, 3> {alignment = 1024 : i64}
  // CHECK-DAG: memref.global "private" @larger : memref<8x64xf16, 3> {alignment = 2048 : i64}
  // CHECK-DAG: memref.global "private" @no_tile : memref<8x64xf16, 3>{{$}}
  memref.global "private" @plain : memref<8x64xf16, 3>
  memref.global "private" @narrow : memref<8x16xf16, 3>
  memref.global "private" @medium : memref<8x32xf16, 3>
  memref.global "private" @wide : memref<4096xi8, 3>
  memref.global "private" @larger : memref<8x64xf16, 3> {alignment = 2048 : i64}
  memref.global "private" @no_tile : memref<8x64xf16, 3>
  gpu.func @copy(%p: !plain, %n: !narrow, %m: !medium, %w: !wide, %offset: index) kernel {
    %c0 = arith.constant 0 : index
    %bar = nvgpu.mbarrier.create -> !barriers
    %plain = memref.get_global @plain : memref<8x64xf16, 3>
    nvgpu.tma.async.load %p[%c0, %c0], %bar[%c0] to %plain : !plain, !barriers -> memref<8x64xf16, 3>
    %narrow = memref.get_global @narrow : memref<8x16xf16, 3>
    nvgpu.tma.async.store %narrow to %n[%c0, %c0] : memref<8x16xf16, 3> -> !narrow
    %medium = memref.get_global @medium : memref<8x32xf16, 3>
    nvgpu.tma.async.load %m[%c0, %c0], %bar[%c0] to %medium : !medium, !barriers -> memref<8x32xf16, 3>
    %bytes = memref.get_global @wide : memref<4096xi8, 3>
    %wide = memref.view %bytes[%offset][] : memref<4096xi8, 3> to memref<8x64xf16, 3>
    nvgpu.tma.async.load %w[%c0, %c0], %bar[%c0] to %wide : !wide, !barriers -> memref<8x64xf16, 3>
    %larger = memref.get_global @larger : memref<8x64xf16, 3>
    nvgpu.tma.async.load %w[%c0, %c0], %bar[%c0] to %larger : !wide, !barriers -> memref<8x64xf16, 3>
    %other = memref.get_global @no_tile : memref<8x64xf16, 3>
    %value = memref.load %other[%c0, %c0] : memref<8x64xf16, 3>
    gpu.return
  }
}

// -----

// Attributions, as operands of wgmma too.
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @multiply
  // CHECK-SAME:    %{{.*}} : memref<4xf32, #gpu.address_space<workgroup>>,
  // CHECK-SAME:    %{{.*}} : memref<64x64xf16, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64}
  gpu.func @multiply(%m: !map) workgroup(
      %sums: memref<4xf32, #gpu.address_space<workgroup>>,
      %a: memref<64x64xf16, #gpu.address_space<workgroup>>) kernel {
    %d = nvgpu.warpgroup.generate.descriptor %a, %m : memref<64x64xf16, #gpu.address_space<workgroup>>, !map
        -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>>
    gpu.return
  }
}

// -----

// What does not tell its buffer aligns all that can be a tile: an argument, a loop's value, inline
// PTX and operations of nvvm that take an address.
!barriers = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<8x32xf16, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
gpu.module @argument {
  // CHECK: gpu.module @argument
  // CHECK-DAG: memref.global "private" @tile : memref<8x32xf16, 3> {alignment = 512 : i64}
  // CHECK-DAG: memref.global "private" @flag : memref<1xi64, 3>{{$}}
  memref.global "private" @tile : memref<8x32xf16, 3>
  memref.global "private" @flag : memref<1xi64, 3>
  func.func @copy(%m: !map, %bar: !barriers, %tile: memref<8x32xf16, 3>) {
    %c0 = arith.constant 0 : index
    nvgpu.tma.async.load %m[%c0, %c0], %bar[%c0] to %tile : !map, !barriers -> memref<8x32xf16, 3>
    return
  }
}
gpu.module @raw {
  // CHECK: gpu.module @raw
  // CHECK: llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 1024 : i64}
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<1024 x i8>
  llvm.func @store(%map: !llvm.ptr, %from: !llvm.ptr<3>, %at: i32) {
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %from, box[%at, %at] : !llvm.ptr, !llvm.ptr<3>
    llvm.return
  }
}
gpu.module @ptx {
  // CHECK: gpu.module @ptx
  // CHECK: memref.global "private" @tile : memref<64xf32, 3> {alignment = 1024 : i64}
  memref.global "private" @tile : memref<64xf32, 3>
  llvm.func @store(%map: i64, %from: i32) {
    llvm.inline_asm has_side_effects "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [$0, {0}], [$1];", "l,r" %map, %from : (i64, i32) -> ()
    llvm.return
  }
}
gpu.module @other {
  // CHECK: gpu.module @other
  // CHECK: memref.global "private" @tile : memref<64xf32, 3>{{$}}
  memref.global "private" @tile : memref<64xf32, 3>
}

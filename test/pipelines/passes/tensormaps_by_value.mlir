// RUN: hirc-opt %s --tensormaps-by-value | FileCheck %s

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b,
                                   l2promo = none, oob = zero, interleave = none>

module attributes {gpu.container_module} {
  // The kernel takes the 128 bytes; other parameters stay.
  // CHECK:      gpu.func @copy(%[[SIZE:.*]]: index, %[[BYTES:.*]]: !llvm.struct<"tensormap", (array<16 x i64>)>) kernel
  // CHECK-NEXT:   %[[MAP:.*]] = builtin.unrealized_conversion_cast %[[BYTES]] : !llvm.struct<"tensormap", (array<16 x i64>)> to !nvgpu.tensormap.descriptor
  // CHECK-NEXT:   nvgpu.tma.prefetch.descriptor %[[MAP]]
  gpu.module @kernels {
    gpu.func @copy(%size: index, %map: !map) kernel {
      nvgpu.tma.prefetch.descriptor %map : !map
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME:      %[[DESCRIPTOR:.*]]: !nvgpu.tensormap.descriptor
  // CHECK:         %[[VALUE:.*]] = builtin.unrealized_conversion_cast %[[DESCRIPTOR]]
  // CHECK-NEXT:    gpu.launch_func @kernels::@copy
  // CHECK-SAME:      %[[VALUE]] : !llvm.struct<"tensormap", (array<16 x i64>)>)
  func.func @main(%map: !map) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%c1 : index, %map : !map)
    return
  }
}

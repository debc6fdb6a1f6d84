// RUN: hirc-opt %s --wait-for-accumulators | FileCheck %s
// RUN: hirc %s --offload-arch=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX

// The last group is in flight when the loop ends, and complete when its sums are stored.
!a_tile = memref<64x64xf16, #gpu.address_space<workgroup>>
!a_map = !nvgpu.tensormap.descriptor<tensor = !a_tile, swizzle = swizzle_128b, l2promo = none,
                                     oob = zero, interleave = none>
!operand = !nvgpu.warpgroup.descriptor<tensor = !a_tile>
!accumulator = !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
gpu.module @kernels {
  gpu.func @sums(%map: !a_map, %sums: memref<64x64xf32>, %steps: index)
      workgroup(%tile: !a_tile) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !accumulator
    %a = nvgpu.warpgroup.generate.descriptor %tile, %map : !a_tile, !a_map -> !operand
    // CHECK: scf.for
    // CHECK: nvgpu.warpgroup.mma %
    // CHECK-NOT: wgmma.wait
    // CHECK: scf.yield
    // CHECK-NEXT: }
    // CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
    // CHECK-NEXT: nvgpu.warpgroup.mma.store
    // PTX: wgmma.wait_group.sync.aligned 1;
    // PTX: wgmma.wait_group.sync.aligned 0;
    // PTX: st.global
    %sum = scf.for %step = %c0 to %steps step %c1 iter_args(%so_far = %zero) -> !accumulator {
      %next = nvgpu.warpgroup.mma %a, %a, %so_far {transposeB}
          : !operand, !operand, !accumulator -> !accumulator
      scf.yield %next : !accumulator
    }
    nvgpu.warpgroup.mma.store %sum, %sums : !accumulator to memref<64x64xf32>
    gpu.return
  }
}

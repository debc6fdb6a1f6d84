// RUN: hirc-opt %s --carry-mma-matrices-as-structs | FileCheck %s
// RUN: hirc-opt %s --pass-pipeline='builtin.module(carry-mma-matrices-as-structs,gpu.module(convert-nvgpu-to-nvvm,convert-scf-to-cf,convert-gpu-to-nvvm,reconcile-unrealized-casts))' | FileCheck %s --check-prefix=LOWERED

// CHECK-LABEL: gpu.func @accumulate
// CHECK:         %[[START:.*]] = builtin.unrealized_conversion_cast %{{.*}} : !gpu.mma_matrix<16x16xf16, "COp"> to !llvm.struct<(vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)>
// CHECK:         %[[END:.*]] = scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %[[START]])
// CHECK-NEXT:      %[[MATRIX:.*]] = builtin.unrealized_conversion_cast %[[CARRIED]]
// CHECK:           gpu.subgroup_mma_compute {{.*}}, {{.*}}, %[[MATRIX]]
// CHECK:           scf.yield %{{.*}} : !llvm.struct<
// CHECK:         builtin.unrealized_conversion_cast %[[END]] : {{.*}} to !gpu.mma_matrix<16x16xf16, "COp">

// Nothing of the casts is left.
// LOWERED-LABEL: llvm.func @accumulate
// LOWERED-NOT:   unrealized_conversion_cast
// LOWERED:       nvvm.wmma.mma
gpu.module @kernels {
  gpu.func @accumulate(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f16
    %initial = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf16, "COp">
    %sum = scf.for %k = %c0 to %c64 step %c16
        iter_args(%partial = %initial) -> (!gpu.mma_matrix<16x16xf16, "COp">) {
      %left = gpu.subgroup_mma_load_matrix %a[%c0, %k] {leadDimension = 64 : index}
          : memref<16x64xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %right = gpu.subgroup_mma_load_matrix %b[%k, %c0] {leadDimension = 16 : index}
          : memref<64x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
      %next = gpu.subgroup_mma_compute %left, %right, %partial
          : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp">
          -> !gpu.mma_matrix<16x16xf16, "COp">
      scf.yield %next : !gpu.mma_matrix<16x16xf16, "COp">
    }
    gpu.subgroup_mma_store_matrix %sum, %c[%c0, %c0] {leadDimension = 16 : index}
        : !gpu.mma_matrix<16x16xf16, "COp">, memref<16x16xf16>
    gpu.return
  }
}

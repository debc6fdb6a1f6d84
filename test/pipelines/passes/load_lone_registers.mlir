// RUN: hirc-opt %s --pass-pipeline='builtin.module(gpu.module(convert-gpu-to-nvvm,load-lone-registers))' | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: @load
  // CHECK:         %[[LOADED:.*]] = llvm.call_intrinsic "llvm.nvvm.wmma.m32n8k16.load.b.row.stride.s8.p0"(%{{.*}}, %{{.*}}) : (!llvm.ptr, i32) -> i32
  // CHECK:         llvm.insertvalue %[[LOADED]], %{{.*}}[0] : !llvm.struct<(i32)>
  // CHECK:         llvm.call_intrinsic "llvm.nvvm.wmma.m8n32k16.load.a.col.stride.u8.p3"
  // CHECK:         nvvm.wmma.load {{.*}} -> !llvm.struct<(i32, i32)>
  func.func @load(%x: memref<16x8xi8>, %y: memref<16x8xi8, 3>, %z: memref<16x16xi8>, %i: index)
      -> (!gpu.mma_matrix<16x8xsi8, "BOp">, !gpu.mma_matrix<8x16xui8, "AOp">, !gpu.mma_matrix<16x16xsi8, "AOp">) {
    %a = gpu.subgroup_mma_load_matrix %x[%i, %i] {leadDimension = 8 : index} : memref<16x8xi8> -> !gpu.mma_matrix<16x8xsi8, "BOp">
    %b = gpu.subgroup_mma_load_matrix %y[%i, %i] {leadDimension = 8 : index, transpose} : memref<16x8xi8, 3> -> !gpu.mma_matrix<8x16xui8, "AOp">
    %c = gpu.subgroup_mma_load_matrix %z[%i, %i] {leadDimension = 16 : index} : memref<16x16xi8> -> !gpu.mma_matrix<16x16xsi8, "AOp">
    return %a, %b, %c : !gpu.mma_matrix<16x8xsi8, "BOp">, !gpu.mma_matrix<8x16xui8, "AOp">, !gpu.mma_matrix<16x16xsi8, "AOp">
  }
}

// RUN: hirc-opt %s --pass-pipeline='builtin.module(gpu.module(tensormap-grid-constants))' | FileCheck %s

// A function that is no kernel, and a kernel's other parameters, stay as they are.
gpu.module @kernels {
  // CHECK: llvm.func @copy(%{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.struct<"tensormap", (array<16 x i64>)>, nvvm.grid_constant}, %{{.*}}: !llvm.ptr {llvm.noalias})
  llvm.func @copy(%size: i64, %map: !llvm.struct<"tensormap", (array<16 x i64>)>,
                  %result: !llvm.ptr {llvm.noalias}) attributes {nvvm.kernel} {
    llvm.return
  }
  // CHECK: llvm.func @plain(%{{.*}}: !llvm.struct<"tensormap", (array<16 x i64>)>)
  llvm.func @plain(%map: !llvm.struct<"tensormap", (array<16 x i64>)>) {
    llvm.return
  }
}

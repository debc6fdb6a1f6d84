// RUN: hirc-opt %s -p 'gpu.module(keep-register-limits)' | FileCheck %s

// CHECK:     gpu.func @gives({{.*}}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32}
// CHECK:     gpu.func @says({{.*}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 2 : i32}
// CHECK:     gpu.func @keeps() kernel {
// CHECK:     llvm.func @lowered() attributes {nvvm.kernel, nvvm.minctasm = 1 : i32}
gpu.module @kernels {
  gpu.func @gives(%more: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    scf.if %more {
      nvvm.setmaxregister increase 232
    } else {
      nvvm.setmaxregister decrease 40
    }
    gpu.return
  }
  gpu.func @says() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 2 : i32} {
    nvvm.setmaxregister decrease 40
    gpu.return
  }
  gpu.func @keeps() kernel {
    gpu.return
  }
  llvm.func @lowered() attributes {nvvm.kernel} {
    nvvm.setmaxregister decrease 40
    llvm.return
  }
}

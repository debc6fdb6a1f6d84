// RUN: hirc-opt %s --verify-diagnostics -p 'gpu.module(expand-memref-copy)'

gpu.module @m {
  gpu.func @unranked(%a: memref<*xf32>, %b: memref<4xf32>) {
    // expected-error @below {{a kernel cannot copy memref<*xf32>; memref.cast it to a ranked type}}
    memref.copy %a, %b : memref<*xf32> to memref<4xf32>
    gpu.return
  }
}

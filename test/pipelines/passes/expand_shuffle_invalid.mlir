// RUN: hirc-opt %s --verify-diagnostics -p 'gpu.module(expand-shuffle)'

gpu.module @m {
  gpu.func @wide(%x: i128, %out: memref<i128>) kernel {
    %c1 = arith.constant 1 : i32
    // expected-error @below {{gpu.shuffle of i128 is not supported on AMD's chips; shuffle words of 64 bits}}
    %r, %valid = gpu.shuffle xor %x, %c1, %c1 : i128
    memref.store %r, %out[] : memref<i128>
    gpu.return
  }
}

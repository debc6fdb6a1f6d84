// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'gpu.module(check-device-ops)'

gpu.module @m {
  gpu.func @print(%a: vector<4xf32>) kernel {
    // expected-error @below {{'vector.print' is not supported in device code; use gpu.printf}}
    vector.print %a : vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  llvm.func @start() {
    llvm.return
  }
  // expected-error @below {{'llvm.mlir.global_ctors' is not supported in device code; nothing runs on the device before a kernel}}
  llvm.mlir.global_ctors ctors = [@start], priorities = [0 : i32], data = [#llvm.zero]
}

// -----

gpu.module @m {
  llvm.func @end() {
    llvm.return
  }
  // expected-error @below {{'llvm.mlir.global_dtors' is not supported in device code}}
  llvm.mlir.global_dtors dtors = [@end], priorities = [0 : i32], data = [#llvm.zero]
}

// -----

gpu.module @m {
  // expected-error @below {{variable 't' is thread_local, which device code does not support}}
  llvm.mlir.global internal thread_local @t(0 : i32) : i32
}

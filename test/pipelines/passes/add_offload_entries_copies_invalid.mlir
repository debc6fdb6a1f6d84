// RUN: hirc-opt %s --gpu-kernel-outlining --add-offload-entries --split-input-file --verify-diagnostics

// The kernel would read a copy of its own, with the value it has at compile time.
// expected-error @below {{kernels would get a copy of the host's global 'factors' and see none of the host's writes: make it constant, pass it in device memory as an argument, or share it: declare it without a value on the host and define it in the gpu.module}}
memref.global "private" @factors : memref<4xf32> = dense<1.0>
func.func @main(%n: index, %v: f32) {
  %host = memref.get_global @factors : memref<4xf32>
  memref.store %v, %host[%n] : memref<4xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %device = memref.get_global @factors : memref<4xf32>
    memref.store %v, %device[%tx] : memref<4xf32>
    gpu.terminator
  }
  return
}

// -----

// expected-error @below {{kernels would get a copy of the host's global 'scratch'}}
memref.global "private" @scratch : memref<4xf32> = uninitialized
func.func @main(%n: index, %v: f32) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %device = memref.get_global @scratch : memref<4xf32>
    memref.store %v, %device[%tx] : memref<4xf32>
    gpu.terminator
  }
  return
}

// -----

// expected-error @below {{kernels would get a copy of the host's global 'count'}}
llvm.mlir.global internal @count(1 : i32) : i32
func.func @main(%n: index, %v: i32) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %device = llvm.mlir.addressof @count : !llvm.ptr
    llvm.store %v, %device : i32, !llvm.ptr
    gpu.terminator
  }
  return
}

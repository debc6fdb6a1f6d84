// RUN: hirc-opt %s --convert-gpu-host-to-cuda --split-input-file --verify-diagnostics

func.func @device_operation() {
  // expected-error @below {{'gpu.barrier' has no host lowering; inside a kernel it belongs in a gpu.launch body or a gpu.func}}
  gpu.barrier
  return
}

// -----

// Launches are outlined before.
func.func @not_outlined(%n: index) {
  // expected-error @below {{'gpu.launch' has no host lowering}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  return
}

// -----

func.func @sparse(%t: !gpu.async.token, %n: index) {
  // expected-error @below {{'gpu.thread_id' has no host lowering}}
  %0 = gpu.thread_id x
  return
}

// -----

// expected-error @below {{'cudaFree' is what hirc itself calls as !llvm.func<i32 (ptr)>; rename this one}}
func.func private @cudaFree(memref<4xf32>)
func.func @main(%m: memref<4xf32>) {
  gpu.dealloc %m : memref<4xf32>
  call @cudaFree(%m) : (memref<4xf32>) -> ()
  return
}

// -----

// A declaration of the right type is the same function.
llvm.func @cudaFree(!llvm.ptr) -> i32
func.func @main(%m: memref<4xf32>) {
  gpu.dealloc %m : memref<4xf32>
  return
}

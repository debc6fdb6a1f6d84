// RUN: hirc-opt %s --convert-gpu-host-to-cuda --split-input-file --verify-diagnostics

func.func @layout() {
  // expected-error @below {{gpu.alloc makes packed row-major memory, not layout strided<[1, 4]>; allocate memref of identity layout and take a view of it}}
  %0 = gpu.alloc () : memref<4x4xf32, strided<[1, 4]>>
  return
}

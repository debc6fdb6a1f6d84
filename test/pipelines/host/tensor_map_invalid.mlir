// RUN: hirc-opt %s --convert-gpu-host-to-cuda --verify-diagnostics

func.func @encode(%matrix: memref<*xi4>, %n: index) {
  // expected-error @below {{the tensor memory accelerator has no element type i4}}
  %0 = nvgpu.tma.create.descriptor %matrix box[%n, %n] : memref<*xi4> -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xi4, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
  return
}

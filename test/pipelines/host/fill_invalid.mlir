// RUN: hirc-opt %s --convert-gpu-host-to-cuda --split-input-file --verify-diagnostics

func.func @value(%m: memref<4xf32>) {
  %0 = arith.constant 1.0 : f32
  // expected-error @below {{gpu.memset of this value or layout needs a kernel: run expand-gpu-memset first}}
  gpu.memset %m, %0 : memref<4xf32>, f32
  return
}

// -----

func.func @layout(%m: memref<4xf32, strided<[2]>>) {
  %0 = arith.constant 0.0 : f32
  // expected-error @below {{gpu.memset of this value or layout needs a kernel}}
  gpu.memset %m, %0 : memref<4xf32, strided<[2]>>, f32
  return
}

// -----

// Negative zero is not all zero bits.
func.func @negative_zero(%m: memref<4xf32>) {
  %0 = arith.constant -0.0 : f32
  // expected-error @below {{gpu.memset of this value or layout needs a kernel}}
  gpu.memset %m, %0 : memref<4xf32>, f32
  return
}

// -----

func.func @no_strides(%m: memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j, i mod 2)>>) {
  %0 = arith.constant 0.0 : f32
  // expected-error @below {{gpu.memset of this value or layout needs a kernel}}
  gpu.memset %m, %0 : memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j, i mod 2)>>, f32
  return
}

// RUN: hirc-opt %s --convert-gpu-host-to-cuda --split-input-file --verify-diagnostics

#halves = affine_map<(i, j) -> (i floordiv 2, j, i mod 2)>
func.func @no_strides(%a: memref<4x4xf32, #halves>) {
  // expected-error @below {{memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>> has a layout without strides; use a strided one}}
  gpu.memcpy %a, %a : memref<4x4xf32, #halves>, memref<4x4xf32, #halves>
  return
}

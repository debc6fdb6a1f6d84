// RUN: hirc-opt %s --add-offload-entries --convert-gpu-host-to-cuda | FileCheck %s

// Integers with a sign and floats of a byte are plain integers of their width to LLVM.
// CHECK-LABEL: func.func @small(
// CHECK:         %[[PACK:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i8, i32, i16, struct<(i8, i8)>, vector<4xi8>, i1, f128)>
// CHECK:         llvm.store %{{[0-9]+}}, %{{[0-9]+}} : i8, !llvm.ptr
// CHECK:         llvm.store %{{[0-9]+}}, %{{[0-9]+}} : i32, !llvm.ptr
// CHECK:         llvm.store %{{[0-9]+}}, %{{[0-9]+}} : i16, !llvm.ptr
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: f8E5M2, %b: si32, %c: ui16, %d: complex<f8E4M3FN>, %e: vector<4xf8E4M3FN>, %f: i1, %g: f128) kernel {
      gpu.return
    }
  }
  func.func @small(%n: index, %a: f8E5M2, %b: si32, %c: ui16, %d: complex<f8E4M3FN>, %e: vector<4xf8E4M3FN>, %f: i1, %g: f128) {
    gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
      args(%a : f8E5M2, %b : si32, %c : ui16, %d : complex<f8E4M3FN>, %e : vector<4xf8E4M3FN>, %f : i1, %g : f128)
    return
  }
}

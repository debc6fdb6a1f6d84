// RUN: hirc-opt %s -p 'gpu.module(allow-fast-math)' | FileCheck %s

// CHECK-LABEL: gpu.func @k(
// CHECK:         arith.divf %{{.*}}, %{{.*}} fastmath<fast> : f32
// CHECK:         math.sqrt %{{.*}} fastmath<fast> : f32
// CHECK:         llvm.fmul %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<fast>} : f32
// CHECK:         scf.if
// CHECK:           arith.addf %{{.*}}, %{{.*}} fastmath<fast> : f32
// CHECK:         arith.addi %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : i32
gpu.module @m {
  gpu.func @k(%x: f32, %c: i1, %n: i32) kernel {
    %0 = arith.divf %x, %x : f32
    %1 = math.sqrt %0 fastmath<nnan> : f32
    %2 = llvm.fmul %1, %x : f32
    scf.if %c {
      %3 = arith.addf %2, %x : f32
      scf.yield
    }
    %4 = arith.addi %n, %n : i32
    gpu.return
  }
}
// The host keeps what it says.
// CHECK-LABEL: func.func @host(
// CHECK:         arith.divf %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : f32
func.func @host(%x: f32) -> f32 {
  %0 = arith.divf %x, %x : f32
  return %0 : f32
}

// RUN: hirc-opt %s -p 'gpu.module(check-device-ops)' | FileCheck %s

// CHECK: llvm.mlir.global internal @plain
// CHECK: gpu.printf
gpu.module @m {
  llvm.mlir.global internal @plain(0 : i32) : i32
  gpu.func @k(%a: f32) kernel {
    gpu.printf "%f\n", %a : f32
    gpu.return
  }
}

// On the host they are as they were.
// CHECK: vector.print
func.func @host(%a: vector<4xf32>) {
  vector.print %a : vector<4xf32>
  return
}

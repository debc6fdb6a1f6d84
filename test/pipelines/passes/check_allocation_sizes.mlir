// RUN: hirc-opt %s -p 'check-allocation-sizes' | FileCheck %s

// CHECK-LABEL: func.func @open
// CHECK: %[[BYTES:.*]], %[[HIGH:.*]] = arith.mului_extended %c16{{.*}}, %arg0
// CHECK: scf.if
// CHECK: llvm.call @hirc_refuse
// CHECK: gpu.alloc
func.func @open(%n: index) -> memref<?x4xf32> {
  %m = gpu.alloc (%n) : memref<?x4xf32>
  return %m : memref<?x4xf32>
}

// CHECK-LABEL: func.func @known
// CHECK-NOT: hirc_refuse
// CHECK: return
func.func @known() -> memref<3x4xf32> {
  %m = gpu.alloc () : memref<3x4xf32>
  return %m : memref<3x4xf32>
}

// A function that calls a barrier stays one whose calls are not copied; others need not be.
// RUN: hirc %s --offload-arch=sm_90 -O3 --emit=device-llvm -o - | FileCheck %s

// CHECK: define internal {{.*}} @meet({{.*}} #[[MEET:[0-9]+]]
// CHECK: define internal {{.*}} @square({{.*}} #[[SQUARE:[0-9]+]]
// CHECK: attributes #[[MEET]] = {{{.*}}convergent
// CHECK-NOT: attributes #[[SQUARE]] = {{{.*}}convergent
gpu.module @kernels {
  llvm.func internal @meet(%x: i32) -> i32 attributes {no_inline} {
    nvvm.barrier
    llvm.return %x : i32
  }
  llvm.func internal @square(%x: i32) -> i32 attributes {no_inline} {
    %0 = llvm.mul %x, %x : i32
    llvm.return %0 : i32
  }
  gpu.func @k(%m: memref<?xi32>) kernel {
    %c0 = arith.constant 0 : index
    %x = memref.load %m[%c0] : memref<?xi32>
    %0 = llvm.call @meet(%x) : (i32) -> i32
    %1 = llvm.call @square(%0) : (i32) -> i32
    memref.store %1, %m[%c0] : memref<?xi32>
    gpu.return
  }
}
func.func @main() {
  return
}

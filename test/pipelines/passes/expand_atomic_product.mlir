// RUN: hirc-opt %s -p 'gpu.module(expand-atomic-product)' | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX

gpu.module @m {
  // CHECK-LABEL: gpu.func @products
  // CHECK-SAME:    %[[F:.*]]: memref<4xf32>, %[[I:.*]]: memref<4xi32>, %[[X:.*]]: f32, %[[Y:.*]]: i32, %[[AT:.*]]: index
  // CHECK:         memref.generic_atomic_rmw %[[F]][%[[AT]]] : memref<4xf32> {
  // CHECK-NEXT:    ^bb0(%[[OLD:.*]]: f32):
  // CHECK:           %[[NEW:.*]] = arith.mulf %[[OLD]], %[[X]] : f32
  // CHECK:           memref.atomic_yield %[[NEW]] : f32
  // CHECK:         memref.generic_atomic_rmw %[[I]][%[[AT]]] : memref<4xi32> {
  // CHECK:           arith.muli %{{.*}}, %[[Y]] : i32
  // CHECK:         memref.atomic_rmw addf

  // PTX:         mul.rn.f32
  // PTX:         atom.{{.*}}.cas.b32
  // PTX:         mul.lo.s32
  // PTX:         atom.{{.*}}.cas.b32
  // PTX:         atom.global.add.f32
  gpu.func @products(%f: memref<4xf32>, %i: memref<4xi32>, %x: f32, %y: i32, %at: index) kernel {
    %0 = memref.atomic_rmw mulf %x, %f[%at] : (f32, memref<4xf32>) -> f32
    %1 = memref.atomic_rmw muli %y, %i[%at] : (i32, memref<4xi32>) -> i32
    %2 = memref.atomic_rmw addf %0, %f[%at] : (f32, memref<4xf32>) -> f32
    gpu.return
  }
}

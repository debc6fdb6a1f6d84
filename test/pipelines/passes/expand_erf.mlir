// RUN: hirc-opt %s -p "gpu.module(expand-erf)" | FileCheck %s

// Near zero x + x p(x^2), from 1 on 1 - 2^q(x); one of them is chosen, without a branch.

// CHECK-LABEL: gpu.func @scalar(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: f32
// CHECK:         %[[SIZE:.*]] = math.absf %[[X]] : f32
// CHECK:         %[[T:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-COUNT-6: math.fma %{{.*}}, %[[T]], %{{.*}} : f32
// CHECK-NEXT:    %[[NEAR:.*]] = math.fma %{{.*}}, %[[X]], %[[X]] : f32
// CHECK-COUNT-7: math.fma %{{.*}}, %[[SIZE]], %{{.*}} : f32
// CHECK:         %[[REST:.*]] = nvvm.ex2
// CHECK:         %[[LESS:.*]] = arith.subf %{{.*}}, %[[REST]] : f32
// CHECK:         %[[FAR:.*]] = math.copysign %[[LESS]], %[[X]] : f32
// CHECK:         %[[IS_FAR:.*]] = arith.cmpf oge, %[[SIZE]], %{{.*}} : f32
// CHECK:         arith.select %[[IS_FAR]], %[[FAR]], %[[NEAR]] : f32

// Element by element of a vector; f64 stays.

// CHECK-LABEL: gpu.func @others(
// CHECK-COUNT-2: nvvm.ex2
// CHECK:         vector.from_elements
// CHECK:         math.erf %{{.*}} : f64
gpu.module @kernels {
  gpu.func @scalar(%x: f32, %y: memref<f32>) kernel {
    %r = math.erf %x : f32
    memref.store %r, %y[] : memref<f32>
    gpu.return
  }
  gpu.func @others(%x: vector<2xf32>, %w: f64, %y: memref<vector<2xf32>>, %z: memref<f64>) kernel {
    %r = math.erf %x : vector<2xf32>
    memref.store %r, %y[] : memref<vector<2xf32>>
    %s = math.erf %w : f64
    memref.store %s, %z[] : memref<f64>
    gpu.return
  }
}

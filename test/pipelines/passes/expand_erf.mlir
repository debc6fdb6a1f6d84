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

// Of 1 + erf(x) that is a factor of what is rounded to 16 bits, one polynomial.

// CHECK-LABEL: gpu.func @factor(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: f32
// CHECK:         %[[SIZE:.*]] = math.absf %[[X]] : f32
// CHECK-COUNT-7: math.fma %{{.*}}, %[[SIZE]], %{{.*}} : f32
// CHECK-NEXT:    %[[REST:.*]] = nvvm.ex2
// CHECK:         %[[MORE:.*]] = arith.subf %{{.*}}, %[[REST]] : f32
// CHECK:         %[[IS_LESS:.*]] = arith.cmpf olt, %[[X]], %{{.*}} : f32
// CHECK-NEXT:    arith.select %[[IS_LESS]], %[[REST]], %[[MORE]] : f32
// CHECK-NOT:     nvvm.ex2

// Not where the sum is kept, another number is added, or the function is read besides.

// CHECK-LABEL: gpu.func @not_factors(
// CHECK-COUNT-3: arith.cmpf oge
// CHECK-NOT:     olt
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
  gpu.func @factor(%x: f32, %h: f32, %y: memref<bf16>) kernel {
    %one = arith.constant 1.0 : f32
    %e = math.erf %x : f32
    %s = arith.addf %e, %one : f32
    %p = arith.mulf %h, %s : f32
    %r = arith.truncf %p : f32 to bf16
    memref.store %r, %y[] : memref<bf16>
    gpu.return
  }
  gpu.func @not_factors(%x: f32, %h: f32, %y: memref<bf16>, %z: memref<f32>) kernel {
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %e = math.erf %x : f32
    %s = arith.addf %e, %one : f32
    %p = arith.mulf %h, %s : f32
    memref.store %p, %z[] : memref<f32>
    %e2 = math.erf %p : f32
    %s2 = arith.addf %e2, %two : f32
    %p2 = arith.mulf %h, %s2 : f32
    %r2 = arith.truncf %p2 : f32 to bf16
    memref.store %r2, %y[] : memref<bf16>
    %e3 = math.erf %p2 : f32
    memref.store %e3, %z[] : memref<f32>
    %s3 = arith.addf %e3, %one : f32
    %p3 = arith.mulf %h, %s3 : f32
    %r3 = arith.truncf %p3 : f32 to bf16
    memref.store %r3, %y[] : memref<bf16>
    gpu.return
  }
}

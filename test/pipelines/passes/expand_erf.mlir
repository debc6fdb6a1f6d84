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

// What is a constant times the argument, or the sum, changes the coefficients: here 0.5 (1 + erf(x /
// 2)), whose q(0) is 1 less and whose linear term is half as large.

// CHECK-LABEL: gpu.func @scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: f32, %[[H:[a-z0-9]+]]: f32
// CHECK:         %[[SIZE:.*]] = math.absf %[[X]] : f32
// CHECK:         %[[LINEAR:.*]] = arith.constant -0.813889{{.*}} : f32
// CHECK-NEXT:    %[[SUM:.*]] = math.fma %{{.*}}, %[[SIZE]], %[[LINEAR]] : f32
// CHECK-NEXT:    %[[FIRST:.*]] = arith.constant -1.00001{{.*}} : f32
// CHECK-NEXT:    %[[Q:.*]] = math.fma %[[SUM]], %[[SIZE]], %[[FIRST]] : f32
// CHECK-NEXT:    %[[REST:.*]] = nvvm.ex2 %[[Q]]
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    %[[MORE:.*]] = arith.subf %[[ONE]], %[[REST]] : f32
// CHECK:         %[[S:.*]] = arith.select %{{.*}}, %[[REST]], %[[MORE]] : f32
// CHECK-NEXT:    arith.mulf %[[H]], %[[S]] : f32

// The same where the other factor has the 0.5.

// CHECK-LABEL: gpu.func @scaled_other(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: f32, %[[H:[a-z0-9]+]]: f32
// CHECK:         arith.constant -1.00001{{.*}} : f32
// CHECK:         %[[S:.*]] = arith.select
// CHECK:         arith.mulf %[[H]], %[[S]] : f32

// Not of factors below 0 or far from 1, nor where what has the factor is read besides.

// CHECK-LABEL: gpu.func @not_scaled(
// CHECK-COUNT-2: arith.constant -1.537{{.*}} : f32
// CHECK:         arith.subf %{{.*}}, %{{.*}} : f32
// CHECK:         gpu.return

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
  gpu.func @scaled(%x: f32, %h: f32, %y: memref<bf16>) kernel {
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %u = arith.mulf %half, %x : f32
    %e = math.erf %u : f32
    %s = arith.addf %e, %one : f32
    %f = arith.mulf %s, %half : f32
    %p = arith.mulf %h, %f : f32
    %r = arith.truncf %p : f32 to bf16
    memref.store %r, %y[] : memref<bf16>
    gpu.return
  }
  gpu.func @scaled_other(%x: f32, %h: f32, %y: memref<bf16>) kernel {
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %e = math.erf %x : f32
    %s = arith.addf %one, %e : f32
    %k = arith.mulf %h, %half : f32
    %p = arith.mulf %k, %s : f32
    %r = arith.truncf %p : f32 to bf16
    memref.store %r, %y[] : memref<bf16>
    gpu.return
  }
  gpu.func @not_scaled(%x: f32, %h: f32, %y: memref<bf16>, %z: memref<f32>) kernel {
    %one = arith.constant 1.0 : f32
    %less = arith.constant -0.5 : f32
    %u = arith.mulf %less, %x : f32
    %e = math.erf %u : f32
    %s = arith.addf %e, %one : f32
    %f = arith.mulf %s, %less : f32
    %r = arith.truncf %f : f32 to bf16
    memref.store %r, %y[] : memref<bf16>
    %far = arith.constant 1000.0 : f32
    %half = arith.constant 0.5 : f32
    %v = arith.mulf %far, %x : f32
    %e2 = math.erf %v : f32
    %s2 = arith.addf %e2, %one : f32
    %k = arith.mulf %h, %half : f32
    memref.store %k, %z[] : memref<f32>
    %p = arith.mulf %k, %s2 : f32
    %q = arith.mulf %p, %far : f32
    %r2 = arith.truncf %q : f32 to bf16
    memref.store %r2, %y[] : memref<bf16>
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

// RUN: hirc-opt %s -p 'expand-complex' | FileCheck %s

// CHECK-LABEL: func.func @sin
// CHECK:         %[[X:.*]] = complex.re %{{.*}} : complex<f64>
// CHECK:         %[[Y:.*]] = complex.im %{{.*}} : complex<f64>
// CHECK:         %[[SIN:.*]] = math.sin %[[X]] : f64
// CHECK:         %[[COS:.*]] = math.cos %[[X]] : f64
// CHECK:         %[[COSH:.*]] = math.cosh %[[Y]] : f64
// CHECK:         %[[SINH:.*]] = math.sinh %[[Y]] : f64
// CHECK:         %[[RE:.*]] = arith.mulf %[[SIN]], %[[COSH]] : f64
// CHECK:         %[[IM:.*]] = arith.mulf %[[COS]], %[[SINH]] : f64
// CHECK:         complex.create %[[RE]], %[[IM]] : complex<f64>
func.func @sin(%z: complex<f64>) -> complex<f64> {
  %r = complex.sin %z : complex<f64>
  return %r : complex<f64>
}

// CHECK-LABEL: func.func @narrow_cos
// CHECK-COUNT-2: arith.extf %{{.*}} : bf16 to f32
// CHECK:         math.sin %{{.*}} fastmath<afn> : f32
// CHECK:         arith.negf
// CHECK-COUNT-2: arith.truncf %{{.*}} : f32 to bf16
func.func @narrow_cos(%z: complex<bf16>) -> complex<bf16> {
  %r = complex.cos %z fastmath<afn> : complex<bf16>
  return %r : complex<bf16>
}

// CHECK-LABEL: func.func @logarithms
// CHECK:         math.log1p
// CHECK:         complex.abs
// CHECK:         math.log
// CHECK:         math.atan2
// CHECK-COUNT-2: math.log1p
// CHECK-NOT:     complex.log
func.func @logarithms(%z: complex<f32>) -> (complex<f32>, complex<f32>) {
  %0 = complex.log %z : complex<f32>
  %1 = complex.log1p %z : complex<f32>
  return %0, %1 : complex<f32>, complex<f32>
}

// CHECK-LABEL: func.func @bitcasts
// CHECK:         %[[LOW:.*]] = arith.extui %{{.*}} : i32 to i64
// CHECK:         %[[HIGH:.*]] = arith.extui %{{.*}} : i32 to i64
// CHECK:         %[[UP:.*]] = arith.shli %[[HIGH]]
// CHECK:         arith.ori %[[UP]], %[[LOW]] : i64
// CHECK:         %[[RE:.*]] = arith.bitcast %{{.*}} : i16 to f16
// CHECK:         %[[IM:.*]] = arith.bitcast %{{.*}} : i16 to f16
// CHECK:         complex.create %[[RE]], %[[IM]] : complex<f16>
func.func @bitcasts(%z: complex<f32>, %x: f32) -> (i64, complex<f16>) {
  %0 = complex.bitcast %z : complex<f32> to i64
  %1 = complex.bitcast %x : f32 to complex<f16>
  return %0, %1 : i64, complex<f16>
}

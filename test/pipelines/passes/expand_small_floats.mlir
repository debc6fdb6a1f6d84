// RUN: hirc-opt %s -p 'expand-small-floats' | FileCheck %s

// 120 is the difference of the exponents' biases, 127 and 7; denormals are multiples of 2^-9; 127
// is NaN's code.

// CHECK-LABEL: func.func @extend
// CHECK:         %[[CODE:.*]] = arith.bitcast %{{.*}} : f8E4M3FN to i8
// CHECK:         arith.extui %[[CODE]] : i8 to i32
// CHECK:         arith.constant 1006632960 : i32
// CHECK:         arith.constant 0.001953125 : f32
// CHECK:         arith.cmpi eq
// CHECK:         arith.bitcast %{{.*}} : i32 to f32
// CHECK:         arith.truncf %{{.*}} : f32 to f16
// CHECK-NOT:     arith.extf
func.func @extend(%x: f8E4M3FN) -> f16 {
  %r = arith.extf %x : f8E4M3FN to f16
  return %r : f16
}

// CHECK-LABEL: func.func @truncate
// CHECK:         arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK:         arith.bitcast %{{.*}} : vector<4xf32> to vector<4xi32>
// CHECK:         arith.addf
// CHECK:         %[[CODE:.*]] = arith.trunci %{{.*}} : vector<4xi32> to vector<4xi8>
// CHECK:         arith.bitcast %[[CODE]] : vector<4xi8> to vector<4xf8E5M2>
// CHECK-NOT:     arith.truncf
func.func @truncate(%x: vector<4xbf16>) -> vector<4xf8E5M2> {
  %r = arith.truncf %x : vector<4xbf16> to vector<4xf8E5M2>
  return %r : vector<4xf8E5M2>
}

// From f64 by way of f32, cut so that the second rounding is the only one.

// CHECK-LABEL: func.func @truncate_double
// CHECK:         arith.truncf %{{.*}} : f64 to f32
// CHECK:         arith.cmpf ogt
// CHECK:         arith.cmpf one
// CHECK:         math.copysign
func.func @truncate_double(%x: f64) -> f8E4M3FNUZ {
  %r = arith.truncf %x : f64 to f8E4M3FNUZ
  return %r : f8E4M3FNUZ
}

// CHECK-LABEL: func.func @exponent
// CHECK:         arith.constant 4194304 : i32
func.func @exponent(%x: f8E8M0FNU) -> f32 {
  %r = arith.extf %x : f8E8M0FNU to f32
  return %r : f32
}

// CHECK-LABEL: func.func @others_stay
// CHECK:         arith.extf %{{.*}} : f16 to f64
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
func.func @others_stay(%x: f16, %y: f32) -> (f64, bf16) {
  %0 = arith.extf %x : f16 to f64
  %1 = arith.truncf %y : f32 to bf16
  return %0, %1 : f64, bf16
}

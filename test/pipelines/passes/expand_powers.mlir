// RUN: hirc-opt %s -p 'expand-powers' | FileCheck %s

// CHECK-LABEL: func.func @integers
// CHECK-SAME:    %[[BASE:.*]]: i32, %[[EXPONENT:.*]]: i32
// CHECK:         %[[LOOP:.*]]:3 = scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[BASE]], %{{.*}} = %[[EXPONENT]])
// CHECK:           arith.cmpi sgt
// CHECK:           scf.condition
// CHECK:           arith.muli
// CHECK:           arith.shrsi
// CHECK:         %[[NEGATIVE:.*]] = arith.cmpi slt, %[[EXPONENT]]
// CHECK:         arith.select %[[NEGATIVE]], %{{.*}}, %[[LOOP]]#0 : i32
func.func @integers(%base: i32, %exponent: i32) -> i32 {
  %r = math.ipowi %base, %exponent : i32
  return %r : i32
}

// CHECK-LABEL: func.func @integer_vectors
// CHECK-COUNT-4: scf.while
// CHECK:         vector.from_elements %{{.*}} : vector<2x2xi8>
func.func @integer_vectors(%base: vector<2x2xi8>) -> vector<2x2xi8> {
  %r = math.ipowi %base, %base : vector<2x2xi8>
  return %r : vector<2x2xi8>
}

// Every i16 is an f32; no i16 is more than powf takes.

// CHECK-LABEL: func.func @exact_exponent
// CHECK-SAME:    %[[X:.*]]: f32, %[[N:.*]]: i16
// CHECK:         %[[Y:.*]] = arith.sitofp %[[N]] : i16 to f32
// CHECK:         math.powf %[[X]], %[[Y]] fastmath<nnan> : f32
// CHECK-NOT:     scf.if
func.func @exact_exponent(%x: f32, %n: i16) -> f32 {
  %r = math.fpowi %x, %n fastmath<nnan> : f32, i16
  return %r : f32
}

// An i32 may need more digits than an f32 has: then the power is taken in two parts.

// CHECK-LABEL: func.func @exponent_in_parts
// CHECK-SAME:    %[[X:.*]]: f32, %[[N:.*]]: i32
// CHECK:         %[[FITS:.*]] = arith.cmpi ule
// CHECK:         scf.if %[[FITS]] -> (f32) {
// CHECK:           math.powf %[[X]]
// CHECK:         } else {
// CHECK:           %[[SIZE:.*]] = math.absf %[[X]]
// CHECK:           %[[LOW:.*]] = arith.remsi %[[N]]
// CHECK:           arith.subi %[[N]], %[[LOW]]
// CHECK:           math.powf %[[SIZE]]
// CHECK:           math.powf %[[SIZE]]
// CHECK:           arith.mulf
// CHECK:           math.copysign %{{.*}}, %[[X]]
// CHECK:         }
func.func @exponent_in_parts(%x: f32, %n: i32) -> f32 {
  %r = math.fpowi %x, %n : f32, i32
  return %r : f32
}

// An i64 is cut to 32 bits for f32, whose powers it exhausts; doubles hold every i32.

// CHECK-LABEL: func.func @widths
// CHECK:         arith.minsi
// CHECK:         arith.trunci %{{.*}} : i64 to i32
// CHECK:         scf.if
// CHECK:         arith.sitofp %{{.*}} : i32 to f64
// CHECK-NEXT:    math.powf
func.func @widths(%x: f32, %y: f64, %n: i64, %m: i32) -> (f32, f64) {
  %0 = math.fpowi %x, %n : f32, i64
  %1 = math.fpowi %y, %m : f64, i32
  return %0, %1 : f32, f64
}

// Small constant exponents are products; f16 takes them in f32.

// CHECK-LABEL: func.func @constant_exponents
// CHECK-SAME:    %[[X:.*]]: f16, %[[Y:.*]]: vector<2xf32>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : f32
// CHECK:         %[[CUBE:.*]] = arith.mulf %[[SQUARE]], %[[WIDE]] : f32
// CHECK:         arith.truncf %[[CUBE]] : f32 to f16
// CHECK:         arith.divf %{{.*}}, %[[Y]] : vector<2xf32>
// CHECK-NOT:     math.
func.func @constant_exponents(%x: f16, %y: vector<2xf32>) -> (f16, vector<2xf32>) {
  %three = arith.constant 3 : i32
  %minus_one = arith.constant dense<-1> : vector<2xi64>
  %0 = math.fpowi %x, %three : f16, i32
  %1 = math.fpowi %y, %minus_one : vector<2xf32>, vector<2xi64>
  return %0, %1 : f16, vector<2xf32>
}

// A power with a small whole number is a product, as torch computes it, and one with a half a square
// root, which is 0 of -0 and infinite of the negative infinity; others stay.

// CHECK-LABEL: func.func @whole_numbers
// CHECK-SAME:    %[[X:.*]]: f32, %[[V:.*]]: vector<4xf64>, %[[B:.*]]: bf16
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK:         %[[PART:.*]] = arith.mulf %[[V]], %[[V]] : vector<4xf64>
// CHECK:         %[[CUBE:.*]] = arith.mulf %[[PART]], %[[V]] : vector<4xf64>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK:         %[[WIDE_SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : f32
// CHECK:         %[[NARROW:.*]] = arith.truncf %[[WIDE_SQUARE]] : f32 to bf16
// CHECK:         %[[SUM:.*]] = arith.addf %[[X]], %{{.*}} : f32
// CHECK:         %[[ANY:.*]] = math.sqrt %[[SUM]] : f32
// CHECK:         %[[LEAST:.*]] = arith.cmpf oeq, %[[X]], %{{.*}} : f32
// CHECK:         %[[ROOT:.*]] = arith.select %[[LEAST]], %{{.*}}, %[[ANY]] : f32
// CHECK:         %[[LARGE:.*]] = math.powf %[[X]], %{{.*}} : f32
// CHECK:         %[[OPEN:.*]] = math.powf %[[X]], %[[X]] : f32
// CHECK:         return %[[SQUARE]], %[[CUBE]], %[[NARROW]], %[[ROOT]], %[[LARGE]], %[[OPEN]]
func.func @whole_numbers(%x: f32, %v: vector<4xf64>, %b: bf16)
    -> (f32, vector<4xf64>, bf16, f32, f32, f32) {
  %two = arith.constant 2.0 : f32
  %threes = arith.constant dense<3.0> : vector<4xf64>
  %narrow_two = arith.constant 2.0 : bf16
  %half = arith.constant 0.5 : f32
  %five = arith.constant 5.0 : f32
  %0 = math.powf %x, %two : f32
  %1 = math.powf %v, %threes : vector<4xf64>
  %2 = math.powf %b, %narrow_two : bf16
  %3 = math.powf %x, %half : f32
  %4 = math.powf %x, %five : f32
  %5 = math.powf %x, %x : f32
  return %0, %1, %2, %3, %4, %5 : f32, vector<4xf64>, bf16, f32, f32, f32
}

// RUN: hirc-opt %s -p 'expand-math' | FileCheck %s

// CHECK-LABEL: func.func @narrow_fma
// CHECK-SAME:    %[[A:.*]]: f16, %[[B:.*]]: f16, %[[C:.*]]: f16
// CHECK:         %[[R:.*]] = llvm.intr.fma(%[[A]], %[[B]], %[[C]]) : (f16, f16, f16) -> f16
// CHECK:         return %[[R]]
func.func @narrow_fma(%a: f16, %b: f16, %c: f16) -> f16 {
  %r = math.fma %a, %b, %c : f16
  return %r : f16
}

// CHECK-LABEL: func.func @narrow_fma_vectors
// CHECK:         llvm.intr.fma(%{{.*}}) : (vector<2xbf16>, vector<2xbf16>, vector<2xbf16>) -> vector<2xbf16>
// CHECK-COUNT-2: llvm.intr.fma(%{{.*}}) : (bf16, bf16, bf16) -> bf16
// CHECK:         vector.from_elements %{{.*}} : vector<1x2xbf16>
func.func @narrow_fma_vectors(%a: vector<2xbf16>, %b: vector<1x2xbf16>)
    -> (vector<2xbf16>, vector<1x2xbf16>) {
  %0 = math.fma %a, %a, %a : vector<2xbf16>
  %1 = math.fma %b, %b, %b : vector<1x2xbf16>
  return %0, %1 : vector<2xbf16>, vector<1x2xbf16>
}

// A NaN keeps its sign.

// CHECK-LABEL: func.func @narrow_signs
// CHECK-SAME:    %[[A:.*]]: bf16, %[[B:.*]]: bf16
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[A]] : bf16 to i16
// CHECK:         %[[MASK:.*]] = arith.constant 32767 : i16
// CHECK:         %[[SIZE:.*]] = arith.andi %[[BITS]], %[[MASK]] : i16
// CHECK:         arith.bitcast %[[SIZE]] : i16 to bf16
// CHECK:         %[[SIGN:.*]] = arith.constant -32768 : i16
// CHECK:         arith.andi %{{.*}}, %[[SIGN]] : i16
// CHECK:         %[[BOTH:.*]] = arith.ori
// CHECK:         arith.bitcast %[[BOTH]] : i16 to bf16
func.func @narrow_signs(%a: bf16, %b: bf16) -> (bf16, bf16) {
  %0 = math.absf %a : bf16
  %1 = math.copysign %a, %b : bf16
  return %0, %1 : bf16, bf16
}

// CHECK-LABEL: func.func @wide_stays
// CHECK:         math.fma
// CHECK:         math.absf
// CHECK:         math.copysign
// CHECK:         math.sincos
func.func @wide_stays(%a: f32, %b: f64) -> (f32, f64, f32, f32, f32) {
  %0 = math.fma %a, %a, %a : f32
  %1 = math.absf %b : f64
  %2 = math.copysign %a, %a : f32
  %3, %4 = math.sincos %a : f32
  return %0, %1, %2, %3, %4 : f32, f64, f32, f32, f32
}

// The smallest normal f32 has bits 2^23; infinity's are 255 times that.

// CHECK-LABEL: func.func @classes
// CHECK:         %[[SMALLEST:.*]] = arith.constant 8388608 : i32
// CHECK:         %[[ABOVE:.*]] = arith.subi %{{.*}}, %[[SMALLEST]] : i32
// CHECK:         %[[SPAN:.*]] = arith.constant 2130706432 : i32
// CHECK:         arith.cmpi ult, %[[ABOVE]], %[[SPAN]] : i32
// CHECK:         arith.cmpi ult, %{{.*}} : vector<4xi64>
// CHECK:         arith.cmpf oeq
// CHECK:         arith.cmpf oeq
// CHECK-NOT:     math.
func.func @classes(%a: f32, %b: vector<4xf64>) -> (i1, vector<4xi1>, i1) {
  %0 = math.isnormal %a : f32
  %1 = math.isnormal %b : vector<4xf64>
  %2 = math.isinf %a : f32
  return %0, %1, %2 : i1, vector<4xi1>, i1
}

// CHECK-LABEL: func.func @sincos_of_vectors
// CHECK-COUNT-2: math.sincos %{{.*}} : f64
// CHECK:         vector.from_elements
// CHECK:         vector.from_elements
func.func @sincos_of_vectors(%a: vector<2xf64>) -> (vector<2xf64>, vector<2xf64>) {
  %0, %1 = math.sincos %a : vector<2xf64>
  return %0, %1 : vector<2xf64>, vector<2xf64>
}

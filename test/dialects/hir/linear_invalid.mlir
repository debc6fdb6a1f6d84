// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<3xf16>, %d: memref<2xf64>, %f: memref<2x4xf32>) {
  // expected-error @below {{hir.linear: operandSegmentSizes is array<i32: 1, 1, bias, destination>, where 1 says that there is one and 0 that not, not left out}}
  %0 = "hir.linear"(%x, %w) : (memref<8x4xf16>, memref<2x4xf16>) -> memref<8x2xf16>
  return
}

// -----

func.func @case(%x: memref<8x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<3xf16>, %d: memref<2xf64>, %f: memref<2x4xf32>) {
  // expected-error @below {{hir.linear: operandSegmentSizes is array<i32: 1, 1, bias, destination>, where 1 says that there is one and 0 that not; it is [1, 1, 1, 0]}}
  %0 = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<8x4xf16>, memref<2x4xf16>) -> memref<8x2xf16>
  return
}

// -----

func.func @case(%x: memref<8x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<3xf16>, %d: memref<2xf64>, %f: memref<2x4xf32>) {
  // expected-error @below {{hir.linear: the result has sizes [8, 8], not [8, 2]}}
  %0 = "hir.linear"(%x, %x) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (memref<8x4xf16>, memref<8x4xf16>) -> memref<8x2xf16>
  return
}

// -----

func.func @case(%x: memref<8x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<3xf16>, %d: memref<2xf64>, %f: memref<2x4xf32>) {
  // expected-error @below {{hir.linear: operands are (..., k) and (n, k); they are [8, 4] and [2]}}
  %0 = "hir.linear"(%x, %b) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (memref<8x4xf16>, memref<2xf16>) -> memref<8x2xf16>
  return
}

// -----

func.func @case(%x: memref<8x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<3xf16>, %d: memref<2xf64>, %f: memref<2x4xf32>) {
  // expected-error @below {{hir.linear: operands have one element type, not f16 and f32}}
  %0 = "hir.linear"(%x, %f) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (memref<8x4xf16>, memref<2x4xf32>) -> memref<8x2xf16>
  return
}

// -----

func.func @case(%x: memref<8x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<3xf16>, %d: memref<2xf64>, %f: memref<2x4xf32>) {
  // expected-error @below {{hir.linear: the bias has the weight's first size, [2], not [3]}}
  %0 = "hir.linear"(%x, %w, %c) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<8x4xf16>, memref<2x4xf16>, memref<3xf16>) -> memref<8x2xf16>
  return
}

// -----

func.func @case(%x: memref<8x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<3xf16>, %d: memref<2xf64>, %f: memref<2x4xf32>) {
  // expected-error @below {{hir.linear: the bias is of the operands' element type or the result's, not f64}}
  %0 = "hir.linear"(%x, %w, %d) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<8x4xf16>, memref<2x4xf16>, memref<2xf64>) -> memref<8x2xf16>
  return
}

// -----

func.func @case(%x: memref<8x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<3xf16>, %d: memref<2xf64>, %f: memref<2x4xf32>) {
  // expected-error @below {{hir.linear: the result is of f16 or f32, not f64}}
  %0 = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (memref<8x4xf16>, memref<2x4xf16>) -> memref<8x2xf64>
  return
}

// -----

func.func @case(%x: memref<8x4xf16>, %w: memref<2x4xf16>, %b: memref<2xf16>, %c: memref<3xf16>, %d: memref<2xf64>, %f: memref<2x4xf32>) {
  // expected-error @below {{hir.linear: it has either a destination, its last operand, or a result; this one has neither}}
  "hir.linear"(%x, %w, %b) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<8x4xf16>, memref<2x4xf16>, memref<2xf16>) -> ()
  return
}

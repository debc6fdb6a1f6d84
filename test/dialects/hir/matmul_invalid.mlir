// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %h: memref<4x2xf16>, %v: memref<4xf32>, %t: memref<4x4xi1>, %p: memref<2x8x4xf32>, %q: memref<3x4x2xf32>, %s: f32) {
  // expected-error @below {{hir.matmul: sizes [8, 4] and [8, 4] do not fit (..., m, k) and (..., k, n): k is 4 and 8}}
  %0 = "hir.matmul"(%a, %a) : (memref<8x4xf32>, memref<8x4xf32>) -> memref<8x4xf32>
  return
}

// -----

func.func @case(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %h: memref<4x2xf16>, %v: memref<4xf32>, %t: memref<4x4xi1>, %p: memref<2x8x4xf32>, %q: memref<3x4x2xf32>, %s: f32) {
  // expected-error @below {{hir.matmul: operands are (..., m, k) and (..., k, n), of two dims or more; they are [8, 4] and [4]}}
  %0 = "hir.matmul"(%a, %v) : (memref<8x4xf32>, memref<4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %h: memref<4x2xf16>, %v: memref<4xf32>, %t: memref<4x4xi1>, %p: memref<2x8x4xf32>, %q: memref<3x4x2xf32>, %s: f32) {
  // expected-error @below {{hir.matmul: sizes [2] and [3] do not broadcast: 2 and 3 differ}}
  %0 = "hir.matmul"(%p, %q) : (memref<2x8x4xf32>, memref<3x4x2xf32>) -> memref<2x8x2xf32>
  return
}

// -----

func.func @case(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %h: memref<4x2xf16>, %v: memref<4xf32>, %t: memref<4x4xi1>, %p: memref<2x8x4xf32>, %q: memref<3x4x2xf32>, %s: f32) {
  // expected-error @below {{hir.matmul: operands have one element type, not f32 and f16}}
  %0 = "hir.matmul"(%a, %h) : (memref<8x4xf32>, memref<4x2xf16>) -> memref<8x2xf32>
  return
}

// -----

func.func @case(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %h: memref<4x2xf16>, %v: memref<4xf32>, %t: memref<4x4xi1>, %p: memref<2x8x4xf32>, %q: memref<3x4x2xf32>, %s: f32) {
  // expected-error @below {{hir.matmul: it takes floats and integers, not i1}}
  %0 = "hir.matmul"(%t, %t) : (memref<4x4xi1>, memref<4x4xi1>) -> memref<4x4xi1>
  return
}

// -----

func.func @case(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %h: memref<4x2xf16>, %v: memref<4xf32>, %t: memref<4x4xi1>, %p: memref<2x8x4xf32>, %q: memref<3x4x2xf32>, %s: f32) {
  // expected-error @below {{hir.matmul: the result is of f32, not f16}}
  %0 = "hir.matmul"(%a, %b) : (memref<8x4xf32>, memref<4x2xf32>) -> memref<8x2xf16>
  return
}

// -----

func.func @case(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %h: memref<4x2xf16>, %v: memref<4xf32>, %t: memref<4x4xi1>, %p: memref<2x8x4xf32>, %q: memref<3x4x2xf32>, %s: f32) {
  // expected-error @below {{hir.matmul: the result has sizes [8, 2], not [2, 8]}}
  %0 = "hir.matmul"(%a, %b) : (memref<8x4xf32>, memref<4x2xf32>) -> memref<2x8xf32>
  return
}

// -----

func.func @case(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %h: memref<4x2xf16>, %v: memref<4xf32>, %t: memref<4x4xi1>, %p: memref<2x8x4xf32>, %q: memref<3x4x2xf32>, %s: f32) {
  // expected-error @below {{hir.matmul: y is a buffer; f32 is no memref}}
  %0 = "hir.matmul"(%a, %s) : (memref<8x4xf32>, f32) -> memref<8x2xf32>
  return
}

// -----

func.func @case(%a: memref<8x4xf32>, %b: memref<4x2xf32>, %h: memref<4x2xf16>, %v: memref<4xf32>, %t: memref<4x4xi1>, %p: memref<2x8x4xf32>, %q: memref<3x4x2xf32>, %s: f32) {
  // expected-error @below {{hir.matmul: it has either a destination, its last operand, or a result; this one has neither}}
  "hir.matmul"(%a, %b) : (memref<8x4xf32>, memref<4x2xf32>) -> ()
  return
}

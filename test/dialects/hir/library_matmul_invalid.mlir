// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: its operands are both of one of f32, f64, f16, bf16, not f64, f16}}
  "hir.library_matmul"(%d, %b, %c) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf64>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: of f16 the result is of f16 or f32, not i32}}
  "hir.library_matmul"(%a, %b, %i) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xi32>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: compute of f16 is f32, not tf32}}
  "hir.library_matmul"(%a, %b, %c) {compute = "tf32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: compute is a string, not left out}}
  "hir.library_matmul"(%a, %b, %c) {dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: the bias is of the result's element type f16, not f32}}
  "hir.library_matmul"(%a, %b, %c, %w) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 1>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>, memref<2xf32>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: dims is an array, not left out}}
  "hir.library_matmul"(%a, %b, %c) {compute = "f32", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: dims has [2, 2, 1] loops, and the operands have [2, 2, 2] dims}}
  "hir.library_matmul"(%a, %b, %c) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: the loops in dims are numbered from 0 without gaps, 16 at most; they are [0, 1, 3]}}
  "hir.library_matmul"(%a, %b, %c) {compute = "f32", dims = [array<i64: 0, 3>, array<i64: 3, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: no loop indexes two dims of the second operand; its dims are [1, 1]}}
  "hir.library_matmul"(%a, %q, %a) {compute = "f32", dims = [array<i64: 0, 1>, array<i64: 1, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x4xf16>, memref<8x4xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: loop 2 indexes two at least of the operands and the result: one of them alone is a sum or a repetition}}
  "hir.library_matmul"(%a, %b, %c) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 3, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: loop 2 has 4 iterations by the first operand, and 2 by the second operand}}
  "hir.library_matmul"(%a, %b, %c) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 1, 2>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: dim 1 of the first operand has no loop, and so size 1}}
  "hir.library_matmul"(%a, %b, %c) {compute = "f32", dims = [array<i64: 0, -1>, array<i64: 2, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: the bias has one dim, of a loop of the result and one operand}}
  "hir.library_matmul"(%a, %b, %c, %v) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 2>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>, memref<4xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: activation is one of relu, gelu_tanh, not tanh}}
  "hir.library_matmul"(%a, %b, %c) {activation = "tanh", compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: the addend has the loops of the result}}
  "hir.library_matmul"(%a, %b, %c, %bias) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>, memref<2xf16>) -> ()
  return
}

// -----

func.func @case(%a: memref<8x4xf16>, %b: memref<4x2xf16>, %c: memref<8x2xf16>, %bias: memref<2xf16>, %w: memref<2xf32>, %d: memref<8x4xf64>, %i: memref<8x2xi32>, %q: memref<4x4xf16>, %v: memref<4xf16>) {
  // expected-error @below {{hir.library_matmul: the addend is of the result's element type f16, not i32}}
  "hir.library_matmul"(%a, %b, %c, %i) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>} : (memref<8x4xf16>, memref<4x2xf16>, memref<8x2xf16>, memref<8x2xi32>) -> ()
  return
}


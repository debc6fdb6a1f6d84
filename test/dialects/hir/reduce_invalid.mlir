// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{not 'total'}}
  %0 = "hir.reduce"(%x) {kind = "total", axes = array<i64: 1>} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: axes are different numbers from 0 to 1 for an operand of sizes [8, 4]; they are [2]}}
  %0 = "hir.reduce"(%x) {kind = "sum", axes = array<i64: 2>} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: axes are different numbers from 0 to 1 for an operand of sizes [8, 4]; they are [1, 1]}}
  %0 = "hir.reduce"(%x) {kind = "sum", axes = array<i64: 1, 1>} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: axes is an array<i64: ...>, not 1 : i64}}
  %0 = "hir.reduce"(%x) {kind = "sum", axes = 1} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: keep_dims is a flag without value, not 1 : i64}}
  %0 = "hir.reduce"(%x) {kind = "sum", axes = array<i64: 1>, keep_dims = 1} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: the result has sizes [8, 1], not [8]}}
  %0 = "hir.reduce"(%x) {kind = "sum", axes = array<i64: 1>, keep_dims} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: the result has sizes [8], not [4]}}
  %0 = "hir.reduce"(%x) {kind = "sum", axes = array<i64: 1>} : (memref<8x4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: the result is of f32, not f64}}
  %0 = "hir.reduce"(%x) {kind = "sum", axes = array<i64: 1>} : (memref<8x4xf32>) -> memref<8xf64>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: the result is of i32 or i64 or ui64, not i16}}
  %0 = "hir.reduce"(%i) {kind = "sum", axes = array<i64: 1>} : (memref<8x4xi32>) -> memref<8xi16>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: mean takes floats, not i32}}
  %0 = "hir.reduce"(%i) {kind = "mean", axes = array<i64: 1>} : (memref<8x4xi32>) -> memref<8xi32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{not i1}}
  %0 = "hir.reduce"(%b) {kind = "sum", axes = array<i64>} : (memref<8xi1>) -> memref<i1>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: the result is of i1, not f32}}
  %0 = "hir.reduce"(%x) {kind = "any", axes = array<i64: 1>} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: the result is of i64, not f32}}
  %0 = "hir.reduce"(%x) {kind = "argmin", axes = array<i64: 1>} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: argmin is over one axis or over all (axes empty), not [0, 1]}}
  %0 = "hir.reduce"(%x) {kind = "argmin", axes = array<i64: 0, 1>} : (memref<8x4xf32>) -> memref<i64>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: argmax is of one element at least; [0, 4] has none}}
  %0 = "hir.reduce"(%e) {kind = "argmax", axes = array<i64: 0>} : (memref<0x4xf32>) -> memref<4xi64>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: x is a buffer; f32 is no memref}}
  %0 = "hir.reduce"(%s) {kind = "sum", axes = array<i64>} : (f32) -> memref<f32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %b: memref<8xi1>, %e: memref<0x4xf32>, %s: f32) {
  // expected-error @below {{hir.reduce: it has either a destination, its last operand, or a result; this one has neither}}
  "hir.reduce"(%x) {kind = "sum", axes = array<i64>} : (memref<8x4xf32>) -> ()
  return
}

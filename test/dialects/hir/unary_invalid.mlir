// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{not 'negate'}}
  %0 = "hir.unary"(%x) {kind = "negate"} : (memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: kind is a string, not left out}}
  %0 = "hir.unary"(%x) : (memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: exp takes floats, not i32}}
  %0 = "hir.unary"(%i) {kind = "exp"} : (memref<8xi32>) -> memref<8xi32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: not takes integers and i1, not f32}}
  %0 = "hir.unary"(%x) {kind = "not"} : (memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: neg takes floats and integers, not i1}}
  %0 = "hir.unary"(%b) {kind = "neg"} : (memref<8xi1>) -> memref<8xi1>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: complex<f32> is stored and copied, not computed with}}
  %0 = "hir.unary"(%z) {kind = "cast"} : (memref<8xcomplex<f32>>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: the result is of f32 or f64}}
  %0 = "hir.unary"(%x) {kind = "cast"} : (memref<8xf32>) -> memref<8xcomplex<f32>>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: the result is of f32, not f16}}
  %0 = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf16>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: the result is of i1, not f32}}
  %0 = "hir.unary"(%x) {kind = "isnan"} : (memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: the result has sizes [8], not [4]}}
  %0 = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<4xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: scalars alone have no sizes: an operand is a buffer, or there is a destination}}
  %0 = "hir.unary"(%s) {kind = "neg"} : (f32) -> memref<4xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: it has either a destination, its last operand, or a result; this one has neither}}
  "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: it has either a destination, its last operand, or a result; this one has both}}
  %0 = "hir.unary"(%x, %x) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: the destination is of f32, not i32}}
  "hir.unary"(%x, %i) {kind = "neg"} : (memref<8xf32>, memref<8xi32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %z: memref<8xcomplex<f32>>, %s: f32, %b: memref<8xi1>) {
  // expected-error @below {{hir.unary: it takes 1 to 2 operands, not 3}}
  "hir.unary"(%x, %x, %x) {kind = "neg"} : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
  return
}

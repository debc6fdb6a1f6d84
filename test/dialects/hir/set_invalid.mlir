// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: it has either a destination, its last operand, or a result; this one has neither}}
  "hir.set"(%x) : (memref<8xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: it has either a destination, its last operand, or a result; this one has both}}
  %0 = "hir.set"(%x, %x) : (memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: a scalar has no sizes: it needs a destination to fill}}
  %0 = "hir.set"(%s) : (f32) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: the result has sizes [8], not [9]}}
  %0 = "hir.set"(%x) : (memref<8xf32>) -> memref<9xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: the result is packed, memref<8xf32>, not memref<8xf32, strided<[2]>>; other strides take a destination}}
  %0 = "hir.set"(%x) : (memref<8xf32>) -> memref<8xf32, strided<[2]>>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: memref<2x8xf32> has more dims than [8]}}
  "hir.set"(%y, %x) : (memref<2x8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: the destination memref<2x8xf32, strided<[0, 1]>> has one place for several elements (stride 0)}}
  "hir.set"(%x, %e) : (memref<8xf32>, memref<2x8xf32, strided<[0, 1]>>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: the result is of complex<f32>, not f32}}
  %0 = "hir.set"(%z) : (memref<8xcomplex<f32>>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: the result is of f64 or f32}}
  %0 = "hir.set"(%x) : (memref<8xf32>) -> memref<8xcomplex<f32>>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: the source is a buffer or a scalar (index, an integer or a float), not none}}
  "hir.set"(%n, %x) : (none, memref<8xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: the destination is a buffer; f32 is no memref}}
  "hir.set"(%x, %s) : (memref<8xf32>, f32) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %s: f32, %y: memref<2x8xf32>, %z: memref<8xcomplex<f32>>, %e: memref<2x8xf32, strided<[0, 1]>>, %n: none) {
  // expected-error @below {{hir.set: stream_axis is an axis of the result, which is of rank 1, not 1}}
  %0 = "hir.set"(%x) {stream_axis = 1 : i64} : (memref<8xf32>) -> memref<8xf32>
  return
}

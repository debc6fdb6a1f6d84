// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{not 'plus'}}
  %0 = "hir.binary"(%x, %x) {kind = "plus"} : (memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: operands have one element type, not f32 and i32; hir.set or hir.unary with kind cast converts}}
  %0 = "hir.binary"(%x, %i) {kind = "add"} : (memref<8xf32>, memref<8xi32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: and takes integers and i1, not f32}}
  %0 = "hir.binary"(%x, %x) {kind = "and"} : (memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: atan2 takes floats, not i32}}
  %0 = "hir.binary"(%i, %i) {kind = "atan2"} : (memref<8xi32>, memref<8xi32>) -> memref<8xi32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: sizes [8] and [7] do not broadcast: 8 and 7 differ}}
  %0 = "hir.binary"(%x, %w) {kind = "add"} : (memref<8xf32>, memref<7xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: the result is of i1, not f32}}
  %0 = "hir.binary"(%x, %x) {kind = "lt"} : (memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: the destination has sizes [8], not [2, 8]}}
  "hir.binary"(%x, %x, %y) {kind = "add"} : (memref<8xf32>, memref<8xf32>, memref<2x8xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: scalars alone have no sizes}}
  %0 = "hir.binary"(%s, %n) {kind = "add"} : (f32, index) -> memref<8xf32>
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: operands have one element type, not f32 and i64}}
  "hir.binary"(%s, %n, %b) {kind = "eq"} : (f32, index, memref<8xi1>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: it has either a destination, its last operand, or a result; this one has neither}}
  "hir.binary"(%x, %x) {kind = "add"} : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>, %s: f32, %n: index, %b: memref<8xi1>, %y: memref<2x8xf32>) {
  // expected-error @below {{hir.binary: it takes 2 to 3 operands, not 1}}
  %0 = "hir.binary"(%x) {kind = "add"} : (memref<8xf32>) -> memref<8xf32>
  return
}

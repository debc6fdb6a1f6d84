// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%m: memref<8xi1>, %x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>) {
  // expected-error @below {{hir.ternary: kind is one of where, fma, clamp, not 'select'}}
  %0 = "hir.ternary"(%x, %x, %x) {kind = "select"} : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%m: memref<8xi1>, %x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>) {
  // expected-error @below {{hir.ternary: the first operand of where is of i1, not f32}}
  %0 = "hir.ternary"(%x, %x, %x) {kind = "where"} : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%m: memref<8xi1>, %x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>) {
  // expected-error @below {{hir.ternary: operands have one element type, not f32 and i32}}
  %0 = "hir.ternary"(%m, %x, %i) {kind = "where"} : (memref<8xi1>, memref<8xf32>, memref<8xi32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%m: memref<8xi1>, %x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>) {
  // expected-error @below {{hir.ternary: sizes [8] and [7] and [7] do not broadcast: 8 and 7 differ}}
  %0 = "hir.ternary"(%m, %w, %w) {kind = "where"} : (memref<8xi1>, memref<7xf32>, memref<7xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%m: memref<8xi1>, %x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>) {
  // expected-error @below {{hir.ternary: fma takes floats, not i32}}
  %0 = "hir.ternary"(%i, %i, %i) {kind = "fma"} : (memref<8xi32>, memref<8xi32>, memref<8xi32>) -> memref<8xi32>
  return
}

// -----

func.func @case(%m: memref<8xi1>, %x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>) {
  // expected-error @below {{hir.ternary: clamp takes floats and integers, not i1}}
  %0 = "hir.ternary"(%m, %m, %m) {kind = "clamp"} : (memref<8xi1>, memref<8xi1>, memref<8xi1>) -> memref<8xi1>
  return
}

// -----

func.func @case(%m: memref<8xi1>, %x: memref<8xf32>, %i: memref<8xi32>, %w: memref<7xf32>) {
  // expected-error @below {{hir.ternary: it takes 3 to 4 operands, not 2}}
  %0 = "hir.ternary"(%x, %x) {kind = "fma"} : (memref<8xf32>, memref<8xf32>) -> memref<8xf32>
  return
}

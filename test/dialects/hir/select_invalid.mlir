// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8x4xf32>, %i: index) {
  // expected-error @below {{hir.select: axis 2 is out of range for memref<8x4xf32>, of rank 2}}
  %0 = "hir.select"(%x, %i) {axis = 2 : i64} : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index) {
  // expected-error @below {{hir.select: axis -1 is out of range for memref<8x4xf32>, of rank 2}}
  %0 = "hir.select"(%x, %i) {axis = -1 : i64} : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index) {
  // expected-error @below {{hir.select: axis is an integer, not "a"}}
  %0 = "hir.select"(%x, %i) {axis = "a"} : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index) {
  // expected-error @below {{hir.select: axis is an integer, not left out}}
  %0 = "hir.select"(%x, %i) : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index) {
  %c8 = arith.constant 8 : index
  // expected-error @below {{hir.select: index 8 is out of range for axis 0 of memref<8x4xf32>}}
  %0 = "hir.select"(%x, %c8) {axis = 0 : i64} : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index) {
  %c8 = arith.constant -1 : index
  // expected-error @below {{hir.select: index -1 is out of range for axis 0 of memref<8x4xf32>}}
  %0 = "hir.select"(%x, %c8) {axis = 0 : i64} : (memref<8x4xf32>, index) -> memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index) {
  // expected-error @below {{the result is memref<4xf32, strided<[1], offset: ?>>, or the same with sizes, strides or offset left open (?); it is declared as memref<4xf32>}}
  %0 = "hir.select"(%x, %i) {axis = 0 : i64} : (memref<8x4xf32>, index) -> memref<4xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index) {
  // expected-error @below {{the result is memref<4xf32, strided<[1], offset: ?>>, or the same with sizes, strides or offset left open (?); it is declared as memref<8xf32, strided<[1], offset: ?>>}}
  %0 = "hir.select"(%x, %i) {axis = 0 : i64} : (memref<8x4xf32>, index) -> memref<8xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index) {
  // expected-error @below {{hir.select: it takes 2 operands, not 1}}
  %0 = "hir.select"(%x) {axis = 0 : i64} : (memref<8x4xf32>) -> memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index) {
  // expected-error @below {{hir.select: the operand is a buffer; index is no memref}}
  %0 = "hir.select"(%i, %i) {axis = 0 : i64} : (index, index) -> memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: i32) {
  // expected-error @below {{expected base type 'builtin.index' but got 'builtin.integer'}}
  %0 = "hir.select"(%x, %i) {axis = 0 : i64} : (memref<8x4xf32>, i32) -> memref<4xf32, strided<[1], offset: ?>>
  return
}

// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  // expected-error @below {{hir.slice: axis 2 is out of range for memref<8x4xf32>, of rank 2}}
  %0 = "hir.slice"(%x, %i, %j) {axis = 2 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  // expected-error @below {{hir.slice: the step of a slice is at least 1, not 0}}
  %0 = "hir.slice"(%x, %i, %j) {axis = 0 : i64, step = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  // expected-error @below {{hir.slice: step is an integer, not "a"}}
  %0 = "hir.slice"(%x, %i, %j) {axis = 0 : i64, step = "a"} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %cm = arith.constant -1 : index
  // expected-error @below {{hir.slice: bounds [?, 9) do not lie within an axis of size 8: 0 <= start <= stop <= size}}
  %0 = "hir.slice"(%x, %i, %c9) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %cm = arith.constant -1 : index
  // expected-error @below {{hir.slice: bounds [9, ?) do not lie within an axis of size 8: 0 <= start <= stop <= size}}
  %0 = "hir.slice"(%x, %c9, %j) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %cm = arith.constant -1 : index
  // expected-error @below {{hir.slice: bounds [-1, ?) do not lie within an axis of size 8: 0 <= start <= stop <= size}}
  %0 = "hir.slice"(%x, %cm, %j) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %cm = arith.constant -1 : index
  // expected-error @below {{hir.slice: bounds [1, -1) do not lie within an axis of size 8: 0 <= start <= stop <= size}}
  %0 = "hir.slice"(%x, %c1, %cm) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  // expected-error @below {{hir.slice: axis 0 of memref<8x4xf32> has 8 elements 1 apart at most, not 9}}
  %0 = "hir.slice"(%x, %i, %j) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<9x4xf32, strided<[4, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  // expected-error @below {{hir.slice: axis 0 of memref<8x4xf32> has 3 elements 3 apart at most, not 4}}
  %0 = "hir.slice"(%x, %i, %j) {axis = 0 : i64, step = 3 : i64} : (memref<8x4xf32>, index, index) -> memref<4x4xf32, strided<[12, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  // expected-error @below {{the result is memref<?x4xf32, strided<[4, 1], offset: ?>>, or the same with sizes, strides or offset left open (?); it is declared as memref<?x4xf32>}}
  %0 = "hir.slice"(%x, %i, %j) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  // expected-error @below {{the result is memref<?x4xf32, strided<[8, 1], offset: ?>>, or the same with sizes, strides or offset left open (?); it is declared as memref<?x4xf32, strided<[4, 1], offset: ?>>}}
  %0 = "hir.slice"(%x, %i, %j) {axis = 0 : i64, step = 2 : i64} : (memref<8x4xf32>, index, index) -> memref<?x4xf32, strided<[4, 1], offset: ?>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  // expected-error @below {{the result is memref<6x4xf32, strided<[4, 1], offset: 4>>, or the same with sizes, strides or offset left open (?); it is declared as memref<5x4xf32, strided<[4, 1], offset: 4>>}}
  %0 = "hir.slice"(%x, %c1, %c7) {axis = 0 : i64} : (memref<8x4xf32>, index, index) -> memref<5x4xf32, strided<[4, 1], offset: 4>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %i: index, %j: index) {
  // expected-error @below {{hir.slice: the operand is a buffer; index is no memref}}
  %0 = "hir.slice"(%i, %i, %i) {axis = 0 : i64} : (index, index, index) -> memref<4xf32>
  return
}

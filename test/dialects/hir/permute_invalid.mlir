// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8x4xf32>) {
  // expected-error @below {{hir.permute: the order has each of the 2 dims of memref<8x4xf32> once; it is [1, 1]}}
  %0 = "hir.permute"(%x) {order = array<i64: 1, 1>} : (memref<8x4xf32>) -> memref<4x8xf32, strided<[1, 4]>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>) {
  // expected-error @below {{hir.permute: the order has each of the 2 dims of memref<8x4xf32> once; it is [1]}}
  %0 = "hir.permute"(%x) {order = array<i64: 1>} : (memref<8x4xf32>) -> memref<4x8xf32, strided<[1, 4]>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>) {
  // expected-error @below {{hir.permute: order is an array<i64: ...>, not [1, 0]}}
  %0 = "hir.permute"(%x) {order = [1, 0]} : (memref<8x4xf32>) -> memref<4x8xf32, strided<[1, 4]>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>) {
  // expected-error @below {{the result is memref<4x8xf32, strided<[1, 4]>>, or the same with sizes, strides or offset left open (?); it is declared as memref<4x8xf32>}}
  %0 = "hir.permute"(%x) {order = array<i64: 1, 0>} : (memref<8x4xf32>) -> memref<4x8xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>) {
  // expected-error @below {{the result is memref<4x8xf32, strided<[1, 4]>>, or the same with sizes, strides or offset left open (?); it is declared as memref<8x4xf32, strided<[1, 4]>>}}
  %0 = "hir.permute"(%x) {order = array<i64: 1, 0>} : (memref<8x4xf32>) -> memref<8x4xf32, strided<[1, 4]>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>) {
  // expected-error @below {{the result is memref<4x8xf32, strided<[1, 4]>>, or the same with sizes, strides or offset left open (?); it is declared as memref<4x8xf16, strided<[1, 4]>>}}
  %0 = "hir.permute"(%x) {order = array<i64: 1, 0>} : (memref<8x4xf32>) -> memref<4x8xf16, strided<[1, 4]>>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.permute: the operand is a buffer; index is no memref}}
  %0 = "hir.permute"(%n) {order = array<i64>} : (index) -> index
  return
}

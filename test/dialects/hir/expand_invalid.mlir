// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%c: memref<8x1xf32>, %n: index) {
  // expected-error @below {{hir.expand: sizes [8, 1] cannot be repeated to [4, 5]: only a size of 1 repeats, not 8}}
  %0 = "hir.expand"(%c) : (memref<8x1xf32>) -> memref<4x5xf32, strided<[1, 0]>>
  return
}

// -----

func.func @case(%c: memref<8x1xf32>, %n: index) {
  // expected-error @below {{hir.expand: memref<8x1xf32> has more dims than [8]}}
  %0 = "hir.expand"(%c) : (memref<8x1xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%c: memref<8x1xf32>, %n: index) {
  // expected-error @below {{hir.expand: it takes one size for each open size of the result: [8, ?] has 1, there are 0}}
  %0 = "hir.expand"(%c) : (memref<8x1xf32>) -> memref<8x?xf32, strided<[1, 0]>>
  return
}

// -----

func.func @case(%c: memref<8x1xf32>, %n: index) {
  // expected-error @below {{the result is memref<8x5xf32, strided<[1, 0]>>, or the same with sizes, strides or offset left open (?); it is declared as memref<8x5xf32>}}
  %0 = "hir.expand"(%c) : (memref<8x1xf32>) -> memref<8x5xf32>
  return
}

// -----

func.func @case(%c: memref<8x1xf32>, %n: index) {
  // expected-error @below {{hir.expand: the operand is a buffer; index is no memref}}
  %0 = "hir.expand"(%n) : (index) -> memref<8xf32>
  return
}

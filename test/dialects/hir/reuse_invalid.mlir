// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%y: memref<8x4xf32>, %n: index) {
  // expected-error @below {{hir.reuse: the storage is a buffer; index is no memref}}
  %0 = "hir.reuse"(%n) : (index) -> memref<8xf32>
  return
}

// -----

func.func @case(%y: memref<8x4xf32>, %n: index) {
  // expected-error @below {{hir.reuse: it takes 1 or more operands, not 0}}
  %0 = "hir.reuse"() : () -> memref<8xf32>
  return
}

// -----

func.func @case(%y: memref<8x4xf32>, %n: index) {
  // expected-error @below {{hir.reuse: it takes one size for each open size of the logical sizes: [?] has 1, there are 0}}
  %0 = "hir.reuse"(%y) : (memref<8x4xf32>) -> memref<?xf32>
  return
}

// -----

func.func @case(%y: memref<8x4xf32>, %n: index) {
  // expected-error @below {{hir.reuse: it has no memory: it lies where the storage lies}}
  %0 = "hir.reuse"(%y) {memory = "device"} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%y: memref<8x4xf32>, %n: index) {
  // expected-error @below {{hir.reuse: it has no output: it lies where the storage lies}}
  %0 = "hir.reuse"(%y) {output = 0} : (memref<8x4xf32>) -> memref<8xf32>
  return
}

// -----

func.func @case(%y: memref<8x4xf32>, %n: index) {
  // expected-error @below {{hir.reuse: memref<17xf64> takes 136 bytes, the storage memref<8x4xf32> has 128}}
  %0 = "hir.reuse"(%y) : (memref<8x4xf32>) -> memref<17xf64>
  return
}

// -----

func.func @case(%y: memref<8x4xf32>, %n: index) {
  %0 = "hir.reuse"(%y) {domain = [{split = 0, factor = 32}]} : (memref<8x4xf32>) -> memref<33xi8>
  // expected-error @below {{hir.reuse: memref<65xi8> takes 65 bytes, the storage memref<33xi8> has 64}}
  %1 = "hir.reuse"(%0) : (memref<33xi8>) -> memref<65xi8>
  return
}

// -----

func.func @case(%y: memref<8x4xf32>, %n: index) {
  // expected-error @below {{the result is memref<8x4xf32, strided<[1, 8]>>, or the same with sizes, strides or offset left open (?); it is declared as memref<8x4xf32>}}
  %0 = "hir.reuse"(%y) {order = array<i64: 1, 0>} : (memref<8x4xf32>) -> memref<8x4xf32>
  return
}

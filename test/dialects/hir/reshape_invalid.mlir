// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8x4xf32>, %t: memref<8x6xf32, strided<[1, 8]>>, %n: index) {
  // expected-error @below {{hir.reshape: sizes [33] do not have as many elements as [8, 4]}}
  %0 = "hir.reshape"(%x) : (memref<8x4xf32>) -> memref<33xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %t: memref<8x6xf32, strided<[1, 8]>>, %n: index) {
  // expected-error @below {{hir.reshape: sizes [?, 5] do not have as many elements as [8, 4]}}
  %0 = "hir.reshape"(%x, %n) : (memref<8x4xf32>, index) -> memref<?x5xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %t: memref<8x6xf32, strided<[1, 8]>>, %n: index) {
  // expected-error @below {{hir.reshape: memref<8x6xf32, strided<[1, 8]>> cannot be seen with sizes [48]: its dims 0 and 1 do not lie packed one within the other; hir.set makes a packed copy}}
  %0 = "hir.reshape"(%t) : (memref<8x6xf32, strided<[1, 8]>>) -> memref<48xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %t: memref<8x6xf32, strided<[1, 8]>>, %n: index) {
  // expected-error @below {{hir.reshape: it takes one size for each open size of the result: [?] has 1, there are 0}}
  %0 = "hir.reshape"(%x) : (memref<8x4xf32>) -> memref<?xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %t: memref<8x6xf32, strided<[1, 8]>>, %n: index) {
  // expected-error @below {{hir.reshape: it takes one size for each open size of the result: [32] has 0, there are 1}}
  %0 = "hir.reshape"(%x, %n) : (memref<8x4xf32>, index) -> memref<32xf32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %t: memref<8x6xf32, strided<[1, 8]>>, %n: index) {
  // expected-error @below {{the result is memref<32xf32>, or the same with sizes, strides or offset left open (?); it is declared as memref<32xf32, strided<[2]>>}}
  %0 = "hir.reshape"(%x) : (memref<8x4xf32>) -> memref<32xf32, strided<[2]>>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %t: memref<8x6xf32, strided<[1, 8]>>, %n: index) {
  // expected-error @below {{the result is memref<32xf32>, or the same with sizes, strides or offset left open (?); it is declared as memref<32xi32>}}
  %0 = "hir.reshape"(%x) : (memref<8x4xf32>) -> memref<32xi32>
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %t: memref<8x6xf32, strided<[1, 8]>>, %n: index) {
  // expected-error @below {{hir.reshape: the operand is a buffer; index is no memref}}
  %0 = "hir.reshape"(%n) : (index) -> memref<32xi32>
  return
}

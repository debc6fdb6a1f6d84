// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8xf32>, %h: memref<8xf16>, %s: memref<9xf32>, %n: index) {
  %y = "hir.allocate"() : () -> memref<8xf32>
  // expected-error @below {{hir.alias: a buffer cannot be an alias of itself}}
  "hir.alias"(%y, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %h: memref<8xf16>, %s: memref<9xf32>, %n: index) {
  %y = "hir.allocate"() : () -> memref<8xf32>
  // expected-error @below {{hir.alias: an input cannot be an alias: its memory is the caller's}}
  "hir.alias"(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %h: memref<8xf16>, %s: memref<9xf32>, %n: index) {
  %y = "hir.allocate"() : () -> memref<8xf32>
  // expected-error @below {{hir.alias: buffer and target have one element type, not f32 and f16}}
  "hir.alias"(%y, %h) : (memref<8xf32>, memref<8xf16>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %h: memref<8xf16>, %s: memref<9xf32>, %n: index) {
  %y = "hir.allocate"() : () -> memref<8xf32>
  // expected-error @below {{hir.alias: buffer and target have the same sizes, not [8] and [9]}}
  "hir.alias"(%y, %s) : (memref<8xf32>, memref<9xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %h: memref<8xf16>, %s: memref<9xf32>, %n: index) {
  %y = "hir.allocate"() : () -> memref<8xf32>
  // expected-error @below {{hir.alias: the target is a buffer; index is no memref}}
  "hir.alias"(%y, %n) : (memref<8xf32>, index) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>, %h: memref<8xf16>, %s: memref<9xf32>, %n: index) {
  %y = "hir.allocate"() : () -> memref<8xf32>
  // expected-error @below {{hir.alias: the buffer is a buffer; index is no memref}}
  "hir.alias"(%n, %y) : (index, memref<8xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8xf32>) {
  %y = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1>} : () -> memref<8xf32>
  // expected-error @below {{hir.alias: memory that a team shares is where all of the team find it: it can be the target alone}}
  "hir.alias"(%y, %x) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8xf32>, %y: memref<8xf32>, %peer: index) {
  // expected-error @below {{the source of hir.get is what a hir.allocate with memory = "symmetric" and a 'team' gives in this program, or a view of it}}
  %r = "hir.get"(%x, %y, %peer) : (memref<8xf32>, memref<8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  // expected-error @below {{the source of hir.get is what a hir.allocate with memory = "symmetric" and a 'team' gives in this program, or a view of it}}
  %r = "hir.get"(%x, %shared, %peer) : (memref<4x8xf32>, memref<4x8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<4x8xf32>) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  %place = arith.constant -2 : index
  // expected-error @below {{a peer is a place in the team, -1 to 2, not -2}}
  %r = "hir.get"(%shared, %x, %place) : (memref<4x8xf32>, memref<4x8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<8xf32>, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  // expected-error @below {{source and target of hir.get have one size, not 32 and 8 elements}}
  %r = "hir.get"(%shared, %x, %peer) : (memref<4x8xf32>, memref<8xf32>, index) -> !hir.request_t
  return
}

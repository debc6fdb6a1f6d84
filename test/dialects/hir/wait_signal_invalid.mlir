// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8xf32>, %peer: index) {
  // expected-error @below {{the buffer of hir.wait_signal is what a hir.allocate with memory = "symmetric" and a 'team' gives in this program, or a view of it}}
  "hir.wait_signal"(%x, %peer) : (memref<8xf32>, index) -> ()
  return
}

// -----

func.func @case() {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  %place = arith.constant 3 : index
  // expected-error @below {{a peer is a place in the team, -1 to 2, not 3}}
  "hir.wait_signal"(%shared, %place) : (memref<4x8xf32>, index) -> ()
  return
}

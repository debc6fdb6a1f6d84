// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8xf32>, %y: memref<8xf32>, %peer: index) {
  // expected-error @below {{the target of hir.put is what a hir.allocate with memory = "symmetric" and a 'team' gives in this program, or a view of it}}
  %r = "hir.put"(%x, %y, %peer) : (memref<8xf32>, memref<8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<8xf32>, %peer: index) {
  %own = "hir.allocate"() {memory = "symmetric"} : () -> memref<8xf32>
  // expected-error @below {{the target of hir.put is what a hir.allocate with memory = "symmetric" and a 'team' gives in this program, or a view of it}}
  %r = "hir.put"(%x, %own, %peer) : (memref<8xf32>, memref<8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<4x8xf32>) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  %place = arith.constant 3 : index
  // expected-error @below {{a peer is a place in the team, -1 to 2, not 3}}
  %r = "hir.put"(%x, %shared, %place) : (memref<4x8xf32>, memref<4x8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<8x4xf32>, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  %columns = "hir.permute"(%shared) {order = array<i64: 1, 0>} : (memref<4x8xf32>) -> memref<8x4xf32, strided<[1, 8]>>
  // expected-error @below {{the target of hir.put is packed; memref<8x4xf32, strided<[1, 8]>> has strides of its own or leaves them open: copy it with hir.set, or take rows of it}}
  %r = "hir.put"(%x, %columns, %peer) : (memref<8x4xf32>, memref<8x4xf32, strided<[1, 8]>>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<4x8xf32, strided<[?, ?]>>, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  // expected-error @below {{the source of hir.put is packed; memref<4x8xf32, strided<[?, ?]>> has strides}}
  %r = "hir.put"(%x, %shared, %peer) : (memref<4x8xf32, strided<[?, ?]>>, memref<4x8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<4x8xf16>, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  // expected-error @below {{source and target of hir.put have one element type, not f16 and f32: convert with hir.set}}
  %r = "hir.put"(%x, %shared, %peer) : (memref<4x8xf16>, memref<4x8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<31xf32>, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  // expected-error @below {{source and target of hir.put have one size, not 31 and 32 elements}}
  %r = "hir.put"(%x, %shared, %peer) : (memref<31xf32>, memref<4x8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: index, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  // expected-error @below {{the source of hir.put is a buffer; index is no memref}}
  %r = "hir.put"(%x, %shared, %peer) : (index, memref<4x8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  // expected-error @below {{hir.put 'signal' is there or not, and has no value; it is true}}
  %r = "hir.put"(%x, %shared, %peer) {signal = true} : (memref<4x8xf32>, memref<4x8xf32>, index) -> !hir.request_t
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %peer: index) {
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
  %buffer = "hir.reuse"(%shared) : (memref<4x8xf32>) -> memref<4x8xf32>
  // expected-error @below {{the target of hir.put is what a hir.allocate with memory = "symmetric" and a 'team' gives in this program, or a view of it}}
  %r = "hir.put"(%x, %buffer, %peer) : (memref<4x8xf32>, memref<4x8xf32>, index) -> !hir.request_t
  return
}

// -----

"hir.program"() ({
  // expected-error @below {{hir.allocate is for programs that say themselves what each device does}}
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1, 2>} : () -> memref<4x8xf32>
}) {sym_name = "main", mesh = array<i64: 2>, function_type = () -> ()} : () -> ()

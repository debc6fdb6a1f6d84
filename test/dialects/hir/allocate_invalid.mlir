// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: the result is a buffer; index is no memref}}
  %0 = "hir.allocate"(%n) : (index) -> index
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: the result is a buffer; memref<4xi7> has elements of i7, which buffers cannot hold}}
  %0 = "hir.allocate"() {} : () -> memref<4xi7>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: the result is a buffer; memref<4xf32, 3> has a memory space}}
  %0 = "hir.allocate"() {} : () -> memref<4xf32, 3>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{has a layout that is not strided}}
  %0 = "hir.allocate"() {} : () -> memref<4x4xf32, affine_map<(a, b) -> (b, a)>>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: it takes one size for each open size of the logical sizes: [?, ?] has 2, there are 1}}
  %0 = "hir.allocate"(%n) {} : (index) -> memref<?x?xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: it takes one size for each open size of the logical sizes: [8] has 0, there are 1}}
  %0 = "hir.allocate"(%n) {logical = array<i64: 8>} : (index) -> memref<?xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: logical is an array<i64: ...>, not [8]}}
  %0 = "hir.allocate"() {logical = [8]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: memory is one of device, pinned, managed, symmetric, not 'disk'}}
  %0 = "hir.allocate"() {memory = "disk"} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: memory is a string, not 1 : i64}}
  %0 = "hir.allocate"() {memory = 1} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: zero_init is a flag without value, not 1 : i64}}
  %0 = "hir.allocate"() {zero_init = 1} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: output is the number of an output, not -1}}
  %0 = "hir.allocate"() {output = -1} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: output is an integer, not "y"}}
  %0 = "hir.allocate"() {output = "y"} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{the result is memref<8x4xf32, strided<[1, 8]>>, or the same with sizes, strides or offset left open (?); it is declared as memref<8x4xf32>}}
  %0 = "hir.allocate"() {order = array<i64: 1, 0>} : () -> memref<8x4xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{the result is memref<8x4xf32>, or the same with sizes, strides or offset left open (?); it is declared as memref<8x4xf32, strided<[4, 1], offset: 2>>}}
  %0 = "hir.allocate"() {} : () -> memref<8x4xf32, strided<[4, 1], offset: 2>>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: order has each of the 2 logical dims once, not [1, 1]}}
  %0 = "hir.allocate"() {order = array<i64: 1, 1>} : () -> memref<8x4xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: step 1 of the domain orders 3 dims: each of 0 to 2 once, not [1, 0]}}
  %0 = "hir.allocate"() {domain = [{split = 0, factor = 2}, {reorder = array<i64: 1, 0>}]} : () -> memref<8x4xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: order is an array<i64: ...>, not [1, 0]}}
  %0 = "hir.allocate"() {order = [1, 0]} : () -> memref<8x4xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: an allocation has either an order or a domain, not both}}
  %0 = "hir.allocate"() {order = array<i64: 1, 0>, domain = []} : () -> memref<8x4xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: domain is an array of steps, not 3 : i64}}
  %0 = "hir.allocate"() {domain = 3} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: a step is a dictionary with one of split, merge, reorder, shard, expand, reduce; this one is 3 : i64}}
  %0 = "hir.allocate"() {domain = [3]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: a step is a dictionary with one of split}}
  %0 = "hir.allocate"() {domain = [{split = 0, factor = 2, merge = 0}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: a merge step has no factor}}
  %0 = "hir.allocate"() {domain = [{merge = 0, factor = 2}]} : () -> memref<8x4xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: a split step has a factor}}
  %0 = "hir.allocate"() {domain = [{split = 0}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: step 0 of the domain splits by 0; a factor is at least 1}}
  %0 = "hir.allocate"() {domain = [{split = 0, factor = 0}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: split is an integer, not "x"}}
  %0 = "hir.allocate"() {domain = [{split = "x", factor = 2}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: reorder is an array<i64: ...>, not 1 : i64}}
  %0 = "hir.allocate"() {domain = [{reorder = 1}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: a shard step is over "device" or "stream"}}
  %0 = "hir.allocate"() {domain = [{shard = 0}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: a shard step is over "device" or "stream"}}
  %0 = "hir.allocate"() {domain = [{shard = 0, over = "host"}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: step 1 of the domain is a reduce at position 2; there are 2 dims there}}
  %0 = "hir.allocate"() {domain = [{split = 0, factor = 2}, {reduce = 2}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: step 0 of the domain is a merge at position 1; there are 2 dims there}}
  %0 = "hir.allocate"() {domain = [{merge = 1}]} : () -> memref<8x4xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: step 1 of the domain is a split of a dim that is sharded or expanded, which can only be reordered}}
  %0 = "hir.allocate"() {domain = [{expand = 0}, {split = 0, factor = 2}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: the memory is no strided view of the logical sizes [8]: dim 0 lies in pieces with other dims between them}}
  %0 = "hir.allocate"() {domain = [{split = 0, factor = 4}, {reorder = array<i64: 1, 0>}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: the memory is no strided view of the logical sizes [8, 4]: dim 0 lies in pieces with other dims between them}}
  %0 = "hir.allocate"() {domain = [{split = 0, factor = 4}, {reorder = array<i64: 0, 2, 1>}]} : () -> memref<8x4xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{dim 0 lies in pieces with other dims between them}}
  %0 = "hir.allocate"() {domain = [{split = 0, factor = 5}, {split = 1, factor = 2}]} : () -> memref<10xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: the memory is no strided view of the logical dims: a merged dim is split across the dims that it was made of}}
  %0 = "hir.allocate"() {domain = [{merge = 0}, {split = 0, factor = 6}, {reorder = array<i64: 1, 0>}]} : () -> memref<9x4xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: the memory is no strided view of the logical dims: a split that does not divide evenly leaves gaps within a dim that is split again}}
  %0 = "hir.allocate"() {domain = [{split = 0, factor = 5}, {split = 1, factor = 2}, {reorder = array<i64: 0, 2, 1>}]} : () -> memref<10xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{the result is memref<2xf32>, or the same with sizes, strides or offset left open (?); it is declared as memref<8xf32>}}
  %0 = "hir.allocate"() {domain = [{split = 0, factor = 4}, {shard = 1, over = "device"}]} : () -> memref<8xf32>
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @below {{hir.allocate: it has 1 result, not 2}}
  %0:2 = "hir.allocate"() : () -> (memref<8xf32>, memref<8xf32>)
  return
}

// -----

func.func @case() {
  // expected-error @below {{a 'team' shares symmetric memory alone: write memory = "symmetric"}}
  %0 = "hir.allocate"() {team = array<i64: 0, 1>} : () -> memref<8xf32>
  return
}

// -----

func.func @case() {
  // expected-error @below {{a 'team' shares symmetric memory alone: write memory = "symmetric"}}
  %0 = "hir.allocate"() {memory = "pinned", teams = [array<i64: 0, 1>]} : () -> memref<8xf32>
  return
}

// -----

func.func @case() {
  // expected-error @below {{hir.allocate 'team' is the numbers of the devices, each once, as array<i64: 0, 1>; it is array<i64: 1, 1>}}
  %0 = "hir.allocate"() {memory = "symmetric", team = array<i64: 1, 1>} : () -> memref<8xf32>
  return
}

// -----

func.func @case() {
  // expected-error @below {{hir.allocate 'teams' is teams of one size that share no device}}
  %0 = "hir.allocate"() {memory = "symmetric", teams = [array<i64: 0>, array<i64: 1, 2>]} : () -> memref<8xf32>
  return
}

// -----

func.func @case() {
  // expected-error @below {{memory that a team shares is the program's: copy it into an output}}
  %0 = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1>, output = 0 : i64} : () -> memref<8xf32>
  return
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%n: index, %m: index) {
  // CHECK: %{{.*}} = "hir.allocate"() : () -> memref<8x4xf32>
  %0 = "hir.allocate"() : () -> memref<8x4xf32>
  // CHECK: %{{.*}} = "hir.allocate"(%{{.*}}) {memory = "pinned", zero_init} : (index, index) -> memref<?x?xui8>
  %1 = "hir.allocate"(%n, %m) {memory = "pinned", zero_init} : (index, index) -> memref<?x?xui8>
  // CHECK: %{{.*}} = "hir.allocate"() {order = array<i64: 1, 0>, output = 0 : i64} : () -> memref<64x32xf32, strided<[1, 64]>>
  %2 = "hir.allocate"() {order = array<i64: 1, 0>, output = 0 : i64} : () -> memref<64x32xf32, strided<[1, 64]>>
  // CHECK: %{{.*}} = "hir.allocate"(%{{.*}}) {order = array<i64: 1, 0>} : (index) -> memref<?x32xf32, strided<[1, ?]>>
  %3 = "hir.allocate"(%n) {order = array<i64: 1, 0>} : (index) -> memref<?x32xf32, strided<[1, ?]>>
  // CHECK: %{{.*}} = "hir.allocate"(%{{.*}}) {memory = "symmetric"} : (index) -> memref<?x32xtf32, strided<[?, ?], offset: ?>>
  %4 = "hir.allocate"(%n) {memory = "symmetric"} : (index) -> memref<?x32xtf32, strided<[?, ?], offset: ?>>
  // Split twice and left in loop order.
  // CHECK: %{{.*}} = "hir.allocate"() {domain = [{factor = 16 : i64, split = 0 : i64}, {factor = 2 : i64, split = 1 : i64}], memory = "managed"} : () -> memref<64x32xf32>
  %5 = "hir.allocate"() {domain = [{factor = 16 : i64, split = 0 : i64}, {factor = 2 : i64, split = 1 : i64}], memory = "managed"} : () -> memref<64x32xf32>
  // The prefix of three groups of four.
  // CHECK: %{{.*}} = "hir.allocate"() {domain = [{factor = 4 : i64, split = 1 : i64}]} : () -> memref<5x10xf32, strided<[12, 1]>>
  %6 = "hir.allocate"() {domain = [{factor = 4 : i64, split = 1 : i64}]} : () -> memref<5x10xf32, strided<[12, 1]>>
  // Sharded over four devices.
  // CHECK: %{{.*}} = "hir.allocate"() {domain = [{factor = 4 : i64, outer, split = 1 : i64}, {over = "device", shard = 1 : i64}], logical = array<i64: 5, 12>} : () -> memref<5x3xf32>
  %7 = "hir.allocate"() {domain = [{factor = 4 : i64, outer, split = 1 : i64}, {over = "device", shard = 1 : i64}], logical = array<i64: 5, 12>} : () -> memref<5x3xf32>
  // CHECK: %{{.*}} = "hir.allocate"(%{{.*}}) {domain = [{factor = 4 : i64, outer, split = 0 : i64}, {over = "stream", shard = 0 : i64}], logical = array<i64: -1, 12>} : (index) -> memref<?x12xf32>
  %8 = "hir.allocate"(%n) {domain = [{factor = 4 : i64, outer, split = 0 : i64}, {over = "stream", shard = 0 : i64}], logical = array<i64: -1, 12>} : (index) -> memref<?x12xf32>
  // Expanded and reduced dims take no memory.
  // CHECK: %{{.*}} = "hir.allocate"(%{{.*}}) {domain = [{expand = 0 : i64}]} : (index) -> memref<?x4xf32, strided<[0, 1]>>
  %9 = "hir.allocate"(%n) {domain = [{expand = 0 : i64}]} : (index) -> memref<?x4xf32, strided<[0, 1]>>
  // CHECK: %{{.*}} = "hir.allocate"(%{{.*}}) {domain = [{reduce = 1 : i64}], logical = array<i64: 8, -1, 4>} : (index) -> memref<8x4xf32>
  %10 = "hir.allocate"(%n) {domain = [{reduce = 1 : i64}], logical = array<i64: 8, -1, 4>} : (index) -> memref<8x4xf32>
  // CHECK: %{{.*}} = "hir.allocate"() {domain = [{merge = 0 : i64}, {reorder = array<i64: 1, 0>}]} : () -> memref<2x3x4xf32, strided<[3, 1, 6]>>
  %11 = "hir.allocate"() {domain = [{merge = 0 : i64}, {reorder = array<i64: 1, 0>}]} : () -> memref<2x3x4xf32, strided<[3, 1, 6]>>
  // An empty buffer has strides as if each 0 were 1.
  // CHECK: %{{.*}} = "hir.allocate"() : () -> memref<0x4xf32, strided<[4, 1]>>
  %12 = "hir.allocate"() : () -> memref<0x4xf32, strided<[4, 1]>>
  // A team shares it.
  // CHECK: %{{.*}} = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 2>} : () -> memref<4xf32>
  %13 = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 2>} : () -> memref<4xf32>
  // CHECK: %{{.*}} = "hir.allocate"() {memory = "symmetric", teams = [array<i64: 0, 1>, array<i64: 2, 3>]} : () -> memref<4xf32>
  %14 = "hir.allocate"() {memory = "symmetric", teams = [array<i64: 0, 1>, array<i64: 2, 3>]} : () -> memref<4xf32>
  return
}

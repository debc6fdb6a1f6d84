// RUN: hirc-opt %s --split-input-file -p 'hir-overlap-communication{steps=2 by-peers=true}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'hir-overlap-communication{steps=2 by-peers=true},hir-insert-allocations,hir-call-matmul-library{kernel-multiplications=0}' | FileCheck %s --check-prefix=LIBRARY

// The library adds in its call.

// LIBRARY-LABEL: "hir.program"
// LIBRARY-COUNT-2: "hir.library_matmul"(%{{.*}}) {{.*}}array<i32: 1, 1, 1, 0, 0>
// LIBRARY-COUNT-2: "hir.library_matmul"(%{{.*}}) {{.*}}array<i32: 1, 1, 1, 0, 1>
// LIBRARY-LABEL: "hir.program"
// LIBRARY-COUNT-2: "hir.library_matmul"(%{{.*}}) {{.*}}array<i32: 1, 1, 1, 0, 0>
// LIBRARY-COUNT-2: "hir.library_matmul"(%{{.*}}) {{.*}}array<i32: 1, 1, 1, 0, 1>

// Sums that are scattered leave in two pieces. The first step multiplies what is the other device's
// and puts it there; the last adds the own share to what has come, in one operation.

// CHECK-LABEL: "hir.program"
// CHECK: "hir.shares_memory"
// CHECK: %[[MEMORY:.*]] = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1>} : () -> memref<1x2x2x6xbf16>
// CHECK: "hir.linear"(%{{.*}}, %{{.*}}, %[[SUMS:.*]]) {{.*}} -> ()
// CHECK: "hir.put"(%[[SUMS]], %{{.*}}, %[[AFTER:.*]]) {signal}
// CHECK: "hir.linear"(
// CHECK: "hir.put"(%{{.*}}, %{{.*}}, %[[AFTER]]) {signal}
// CHECK: "hir.wait_signal"(%[[MEMORY]], %[[BEFORE:.*]])
// CHECK: %[[SLOT:.*]] = "hir.select"(%[[MEMORY]]
// CHECK: %[[ADDED:.*]] = "hir.select"(%[[SLOT]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %[[ADDED]] : memref<2x8xbf16, {{.*}}, memref<6x8xbf16>, memref<2x6xbf16
// CHECK: hir.reduce_loops
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.truncf
// CHECK: "hir.wait_signal"(%[[MEMORY]], %[[BEFORE]])
// CHECK: linalg.generic
// CHECK-NOT: "hir.reduce"(
// CHECK-NOT: "hir.put"
// CHECK: "hir.communicate"
"hir.program"() ({
^bb0(%x: memref<8x8xbf16>, %w: memref<6x8xbf16>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %share = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xbf16>, memref<6x8xbf16>) -> memref<8x6xbf16>
  %part = "hir.allocate"() : () -> memref<4x6xbf16>
  %sent = "hir.communicate"(%share, %part, %team) {kind = "reduce-scatter", reduction = "sum"}
    : (memref<8x6xbf16>, memref<4x6xbf16>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%sent) : (!hir.request_t) -> ()
  "hir.output"(%part) : (memref<4x6xbf16>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xbf16>, memref<6x8xbf16>) -> memref<4x6xbf16>} : () -> ()

// -----

// A sum of products of linalg that is rounded is rounded once, with what it is added to.

// CHECK-LABEL: "hir.program"
// CHECK: "hir.put"
// CHECK: "hir.wait_signal"
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} :
// CHECK: %[[SUM:.*]] = "hir.reduce_loops"
// CHECK: %[[MORE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: %[[WHOLE:.*]] = arith.addf %[[SUM]], %[[MORE]] : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[WHOLE]] : f32 to f16
// CHECK: linalg.yield %[[ROUNDED]]
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
"hir.program"() ({
^bb0(%x: memref<8x8xf16>, %w: memref<6x8xf16>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %share = "hir.allocate"() : () -> memref<8x6xf16>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf16>, memref<6x8xf16>) outs(%share : memref<8x6xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %d = arith.extf %a : f16 to f32
    %e = arith.extf %c : f16 to f32
    %p = arith.mulf %d, %e : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  }
  %part = "hir.allocate"() : () -> memref<4x6xf16>
  %sent = "hir.communicate"(%share, %part, %team) {kind = "reduce-scatter", reduction = "sum"}
    : (memref<8x6xf16>, memref<4x6xf16>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%sent) : (!hir.request_t) -> ()
  "hir.output"(%part) : (memref<4x6xf16>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf16>, memref<6x8xf16>) -> memref<4x6xf16>} : () -> ()

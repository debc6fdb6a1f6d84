// RUN: hirc-opt %s --split-input-file --pass-pipeline='builtin.module(hir-expand-stream-loops,canonicalize,cse)' | FileCheck %s

// Every iteration waits for the point before the loop alone; what follows waits for all of them.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8xf32>, %[[N:.*]]: index):
// CHECK: %[[HERE:.*]] = "hir.current_stream"()
// CHECK-NEXT: %[[ENTRY:.*]] = "hir.record"(%[[HERE]])
// CHECK-NEXT: "hir.for"(%c0, %[[N]], %c1) ({
// CHECK-NEXT: ^bb0(%[[I:.*]]: index):
// CHECK-NEXT: %[[MINE:.*]] = "hir.stream"(%[[I]]) {pool = 4 : i64}
// CHECK-NEXT: "hir.wait_event"(%[[ENTRY]], %[[MINE]])
// CHECK-NEXT: "hir.set_stream"(%[[MINE]])
// CHECK-NEXT: "hir.binary"(%[[X]], %[[I]], %[[X]])
// CHECK-NEXT: }) : (index, index, index) -> ()
// CHECK-NEXT: %[[USED:.*]] = arith.minsi %[[N]], %c4
// CHECK-NEXT: "hir.for"(%c0, %[[USED]], %c1) ({
// CHECK-NEXT: ^bb0(%[[J:.*]]: index):
// CHECK-NEXT: %[[EACH:.*]] = "hir.stream"(%[[J]]) {pool = 4 : i64}
// CHECK-NEXT: "hir.wait_stream"(%[[HERE]], %[[EACH]])
// CHECK-NEXT: }) : (index, index, index) -> ()
// CHECK-NEXT: "hir.unary"
"hir.program"() ({
^bb0(%x: memref<8xf32>, %n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    "hir.binary"(%x, %i, %x) {kind = "add"} : (memref<8xf32>, index, memref<8xf32>) -> ()
  }) {streams = 4 : i64} : (index, index, index) -> ()
  "hir.unary"(%x, %x) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>, index) -> ()} : () -> ()

// -----

// Streams go by the number of the iteration, not by its index.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[START:.*]]: index, %[[STOP:.*]]: index, %[[STEP:.*]]: index):
// CHECK: ^bb0(%[[I:.*]]: index):
// CHECK-NEXT: %[[FROM:.*]] = arith.subi %[[I]], %[[START]]
// CHECK-NEXT: %[[NUMBER:.*]] = arith.divsi %[[FROM]], %[[STEP]]
// CHECK-NEXT: "hir.stream"(%[[NUMBER]])
// CHECK: %[[LENGTH:.*]] = arith.subi %[[STOP]], %[[START]]
// CHECK-NEXT: %[[COUNT:.*]] = arith.ceildivsi %[[LENGTH]], %[[STEP]]
// CHECK-NEXT: arith.minsi %[[COUNT]], %c2
"hir.program"() ({
^bb0(%start: index, %stop: index, %step: index):
  "hir.for"(%start, %stop, %step) ({
  ^bb0(%i: index):
  }) {streams = 2 : i64} : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index, index, index) -> ()} : () -> ()

// -----

// A loop within one begins and ends on the outer iteration's stream. Serial loops stay.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%{{.*}}: memref<8xf32>, %{{.*}}: index):
// CHECK: %[[OUTER:.*]] = "hir.stream"({{.*}}) {pool = 2 : i64}
// CHECK: "hir.set_stream"(%[[OUTER]])
// CHECK-NEXT: %[[HERE:.*]] = "hir.current_stream"
// CHECK-NEXT: %[[ENTRY:.*]] = "hir.record"(%[[HERE]])
// CHECK-NEXT: "hir.for"
// CHECK: %[[INNER:.*]] = "hir.stream"({{.*}}) {pool = 4 : i64}
// CHECK-NEXT: "hir.wait_event"(%[[ENTRY]], %[[INNER]])
// CHECK: "hir.wait_stream"(%[[HERE]],
// CHECK: "hir.unary"
// CHECK: pool = 2 : i64
// CHECK: "hir.for"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: "hir.unary"({{.*}}) {kind = "abs"}
"hir.program"() ({
^bb0(%x: memref<8xf32>, %n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    "hir.for"(%zero, %n, %one) ({
    ^bb0(%j: index):
      "hir.unary"(%x, %x) {kind = "sin"} : (memref<8xf32>, memref<8xf32>) -> ()
    }) {streams = 4 : i64} : (index, index, index) -> ()
    "hir.unary"(%x, %x) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  }) {streams = 2 : i64} : (index, index, index) -> ()
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    "hir.unary"(%x, %x) {kind = "abs"} : (memref<8xf32>, memref<8xf32>) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>, index) -> ()} : () -> ()

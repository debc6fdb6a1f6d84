// RUN: hirc-opt %s --split-input-file --pass-pipeline='builtin.module(hir-overlap-communication{steps=4})' | FileCheck %s

// What is like a communication beside a product, and stays as it is.

// What arrives has another user.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %y = "hir.linear"(%all, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  %z = "hir.unary"(%all) {kind = "neg"} : (memref<8x8xf32>) -> memref<8x8xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
  "hir.output"(%z) : (memref<8x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<6x8xf32>) -> (memref<8x6xf32>, memref<8x8xf32>)} : () -> ()

// -----

// What arrives is an output.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %y = "hir.linear"(%all, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
  "hir.output"(%all) : (memref<8x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<6x8xf32>) -> (memref<8x6xf32>, memref<8x8xf32>)} : () -> ()

// -----

// The wrong axis: what arrives is the product's columns.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %y = "hir.linear"(%w, %all) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<6x8xf32>, memref<8x8xf32>) -> memref<6x8xf32>
  "hir.output"(%y) : (memref<6x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<6x8xf32>) -> memref<6x8xf32>} : () -> ()

// -----

// What arrives is both operands.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %y = "hir.matmul"(%all, %all) : (memref<8x8xf32>, memref<8x8xf32>) -> memref<8x8xf32>
  "hir.output"(%y) : (memref<8x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> memref<8x8xf32>} : () -> ()

// -----

// The program itself does something meanwhile.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  %z = "hir.unary"(%w) {kind = "neg"} : (memref<6x8xf32>) -> memref<6x8xf32>
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %y = "hir.linear"(%all, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
  "hir.output"(%z) : (memref<6x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<6x8xf32>) -> (memref<8x6xf32>, memref<6x8xf32>)} : () -> ()

// -----

// A wait in between, for another communication.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %o = "hir.allocate"() : () -> memref<4x8xf32>
  %s = "hir.communicate"(%x, %o, %team) {kind = "allreduce", reduction = "sum"}
    : (memref<4x8xf32>, memref<4x8xf32>, !hir.communicator_t) -> !hir.request_t
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.wait"(%s) : (!hir.request_t) -> ()
  %y = "hir.linear"(%all, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
  "hir.output"(%o) : (memref<4x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<6x8xf32>) -> (memref<8x6xf32>, memref<4x8xf32>)} : () -> ()

// -----

// What was sent is written before the product.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.unary"(%x, %x) {kind = "neg"} : (memref<4x8xf32>, memref<4x8xf32>) -> ()
  %y = "hir.linear"(%all, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>} : () -> ()

// -----

// The product is on another stream.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  "hir.set_stream"(%side) : (!hir.stream_t) -> ()
  %y = "hir.linear"(%all, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  %here = "hir.stream"() {name = "here"} : () -> !hir.stream_t
  "hir.set_stream"(%here) : (!hir.stream_t) -> ()
  "hir.wait_stream"(%here, %side) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>} : () -> ()

// -----

// What the product takes besides is written after the communication.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %v: memref<8x6xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %turned = "hir.allocate"() : () -> memref<8x6xf32>
  "hir.unary"(%v, %turned) {kind = "neg"} : (memref<8x6xf32>, memref<8x6xf32>) -> ()
  %y = "hir.matmul"(%all, %turned) : (memref<8x8xf32>, memref<8x6xf32>) -> memref<8x6xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<8x6xf32>) -> memref<8x6xf32>} : () -> ()

// -----

// Sizes that only the run knows.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<?x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %n = "arith.constant"() {value = 8 : index} : () -> index
  %all = "hir.allocate"(%n) : (index) -> memref<?x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<?x8xf32>, memref<?x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %y = "hir.linear"(%all, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<?x8xf32>, memref<6x8xf32>) -> memref<?x6xf32>
  "hir.output"(%y) : (memref<?x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x8xf32>, memref<6x8xf32>) -> memref<?x6xf32>} : () -> ()

// -----

// Five rows a device, which neither two, three nor four steps divide.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<5x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<10x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<5x8xf32>, memref<10x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %y = "hir.linear"(%all, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<10x8xf32>, memref<6x8xf32>) -> memref<10x6xf32>
  "hir.output"(%y) : (memref<10x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<5x8xf32>, memref<6x8xf32>) -> memref<10x6xf32>} : () -> ()

// -----

// What leaves has another user.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %y = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  %to = "hir.allocate"() : () -> memref<4x6xf32>
  %r = "hir.communicate"(%y, %to, %team) {kind = "reduce-scatter", reduction = "sum"}
    : (memref<8x6xf32>, memref<4x6xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.output"(%to) : (memref<4x6xf32>) -> ()
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<6x8xf32>) -> (memref<4x6xf32>, memref<8x6xf32>)} : () -> ()

// -----

// What leaves is of another element type than the product's result.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %y = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  %h = "hir.set"(%y) : (memref<8x6xf32>) -> memref<8x6xf16>
  %to = "hir.allocate"() : () -> memref<4x6xf16>
  %r = "hir.communicate"(%h, %to, %team) {kind = "reduce-scatter", reduction = "sum"}
    : (memref<8x6xf16>, memref<4x6xf16>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.output"(%to) : (memref<4x6xf16>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<6x8xf32>) -> memref<4x6xf16>} : () -> ()

// -----

// What is received goes to where the product takes its rows from.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %v: memref<8x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %y = "hir.linear"(%x, %v) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<8x8xf32>) -> memref<8x8xf32>
  %r = "hir.communicate"(%y, %x, %team) {kind = "allreduce", reduction = "sum"}
    : (memref<8x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.output"(%x) : (memref<8x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<8x8xf32>) -> memref<8x8xf32>} : () -> ()

// -----

// The product's operand is written before the communication.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %y = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  "hir.unary"(%x, %x) {kind = "neg"} : (memref<8x8xf32>, memref<8x8xf32>) -> ()
  %to = "hir.allocate"() : () -> memref<4x6xf32>
  %r = "hir.communicate"(%y, %to, %team) {kind = "reduce-scatter", reduction = "sum"}
    : (memref<8x6xf32>, memref<4x6xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.output"(%to) : (memref<4x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<6x8xf32>) -> memref<4x6xf32>} : () -> ()

// -----

// Something else is communicated in between.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%q: memref<2x2xf32>, %x: memref<8x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %y = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  %o = "hir.allocate"() : () -> memref<2x2xf32>
  %s = "hir.communicate"(%q, %o, %team) {kind = "allreduce", reduction = "sum"}
    : (memref<2x2xf32>, memref<2x2xf32>, !hir.communicator_t) -> !hir.request_t
  %to = "hir.allocate"() : () -> memref<4x6xf32>
  %r = "hir.communicate"(%y, %to, %team) {kind = "reduce-scatter", reduction = "sum"}
    : (memref<8x6xf32>, memref<4x6xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.wait"(%s) : (!hir.request_t) -> ()
  "hir.output"(%to) : (memref<4x6xf32>) -> ()
  "hir.output"(%o) : (memref<2x2xf32>) -> ()
}) {sym_name = "main", function_type = (memref<2x2xf32>, memref<8x8xf32>, memref<6x8xf32>) -> (memref<4x6xf32>, memref<2x2xf32>)} : () -> ()

// -----

// A team of one.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %y = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  %alone = "hir.communicator"() {team = array<i64: 0>} : () -> !hir.communicator_t
  %to = "hir.allocate"() : () -> memref<8x6xf32>
  %r = "hir.communicate"(%y, %to, %alone) {kind = "allreduce", reduction = "sum"}
    : (memref<8x6xf32>, memref<8x6xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.output"(%to) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>} : () -> ()

// -----

// A kind of which the rows are not everybody's.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %y = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  %to = "hir.allocate"() : () -> memref<8x6xf32>
  %r = "hir.communicate"(%y, %to, %team) {kind = "broadcast", root = 0 : i64}
    : (memref<8x6xf32>, memref<8x6xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.output"(%to) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>} : () -> ()

// -----

// A matrix for each of four, of which two go to each device.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
// CHECK: "hir.communicate"
// CHECK-NOT: "hir.for"
// CHECK: "hir.output"
"hir.program"() ({
^bb0(%x: memref<4x4x8xf32>, %w: memref<4x8x6xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %y = "hir.matmul"(%x, %w) : (memref<4x4x8xf32>, memref<4x8x6xf32>) -> memref<4x4x6xf32>
  %to = "hir.allocate"() : () -> memref<4x4x6xf32>
  %r = "hir.communicate"(%y, %to, %team) {kind = "all-to-all"}
    : (memref<4x4x6xf32>, memref<4x4x6xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.output"(%to) : (memref<4x4x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x4x8xf32>, memref<4x8x6xf32>) -> memref<4x4x6xf32>} : () -> ()

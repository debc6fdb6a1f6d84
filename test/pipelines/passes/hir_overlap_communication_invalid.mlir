// RUN: hirc-opt %s --split-input-file --hir-overlap-communication --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  // expected-error @below {{'overlap_steps' is 3, which does not divide the 4 rows that each device has}}
  %y = "hir.linear"(%all, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>, overlap_steps = 3 : i64}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %w: memref<6x8xf32>):
  // expected-error @below {{'overlap_steps' is for a product that takes all that an allgather or all-to-all gives, or gives all that a reduce-scatter, allreduce or all-to-all takes, of sizes that the types tell, with nothing else done between: this one is not}}
  %y = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>, overlap_steps = 2 : i64}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %w: memref<8x6xf32>):
  // expected-error @below {{hir.matmul: overlap_steps is a number of steps, 1 or more, not 0}}
  %y = "hir.matmul"(%x, %w) {overlap_steps = 0 : i64}
    : (memref<8x8xf32>, memref<8x6xf32>) -> memref<8x6xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<8x6xf32>) -> memref<8x6xf32>} : () -> ()

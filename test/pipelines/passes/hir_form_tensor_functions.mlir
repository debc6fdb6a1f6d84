// RUN: hirc-opt %s --split-input-file -p hir-form-tensor-functions | FileCheck %s

// A chain moves to a function, with the constants that it takes. Sizes of one name are equal.
// CHECK-LABEL: func.func @chain_tensors(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32>, %[[Y:.*]]: tensor<?x8xf32>, %{{.*}}: tensor<8xf32>)
// CHECK-SAME:    -> tensor<?x8xf32> attributes {hir.inlined}
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[Y]]
// CHECK:         arith.constant 2.0
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: "hir.program"
// CHECK-NOT:     "hir.binary"
// CHECK:         "hir.call"
// CHECK:         callee = @chain_tensors
"hir.program"() ({
^bb0(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %b: memref<8xf32>):
  %two = arith.constant 2.0 : f32
  %0 = "hir.binary"(%x, %y) {kind = "add"} : (memref<?x8xf32>, memref<?x8xf32>) -> memref<?x8xf32>
  %1 = "hir.binary"(%0, %two) {kind = "mul"} : (memref<?x8xf32>, f32) -> memref<?x8xf32>
  %2 = "hir.binary"(%1, %b) {kind = "add"} : (memref<?x8xf32>, memref<8xf32>) -> memref<?x8xf32>
  "hir.output"(%2) : (memref<?x8xf32>) -> ()
}) {sym_name = "chain", function_type = (memref<?x8xf32>, memref<?x8xf32>, memref<8xf32>) -> memref<?x8xf32>,
    inputs = [{name = "x", sizes = ["n", 8]}, {name = "y", sizes = ["n", 8]}, {name = "b"}]} : () -> ()

// -----

// Sizes of two names may be 1 where the other is not: only the run can tell how they broadcast.
// CHECK-NOT:   func.func
// CHECK-LABEL: "hir.program"
// CHECK-COUNT-2: "hir.binary"
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>):
  %0 = "hir.binary"(%x, %y) {kind = "add"} : (memref<?xf32>, memref<?xf32>) -> memref<?xf32>
  %1 = "hir.binary"(%0, %y) {kind = "mul"} : (memref<?xf32>, memref<?xf32>) -> memref<?xf32>
  "hir.output"(%1) : (memref<?xf32>) -> ()
}) {sym_name = "two_sizes", function_type = (memref<?xf32>, memref<?xf32>) -> memref<?xf32>,
    inputs = [{name = "x", sizes = ["n"]}, {name = "y", sizes = ["m"]}]} : () -> ()

// -----

// The last one may write to a buffer that none reads, here to a row of it; a loop's body is a
// block like others.
// CHECK-LABEL: func.func @row_tensors(%{{.*}}: tensor<8xf32>) -> tensor<8xf32>
// CHECK-LABEL: "hir.program"
// CHECK:         %[[Y:.*]] = "hir.allocate"()
// CHECK:         %[[ROW:.*]] = "hir.select"(%[[Y]], %{{.*}})
// CHECK:         "hir.call"() ({
// CHECK-NEXT:      "hir.argument"(%{{.*}}) :
// CHECK-NEXT:      "hir.argument"(%[[ROW]]) {destination = 0 : i64}
"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %y = "hir.allocate"() : () -> memref<4x8xf32>
  "hir.for"(%c0, %c4, %c1) ({
  ^bb0(%i: index):
    %from = "hir.select"(%x, %i) {axis = 0 : i64} : (memref<4x8xf32>, index) -> memref<8xf32, strided<[1], offset: ?>>
    %to = "hir.select"(%y, %i) {axis = 0 : i64} : (memref<4x8xf32>, index) -> memref<8xf32, strided<[1], offset: ?>>
    %0 = "hir.unary"(%from) {kind = "exp"} : (memref<8xf32, strided<[1], offset: ?>>) -> memref<8xf32>
    "hir.unary"(%0, %to) {kind = "neg"} : (memref<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  }) : (index, index, index) -> ()
  "hir.output"(%y) : (memref<4x8xf32>) -> ()
}) {sym_name = "row", function_type = (memref<4x8xf32>) -> memref<4x8xf32>} : () -> ()

// -----

// A destination in memory that one of them reads: fused, it might be written too early. The same of
// a product of what they give, which comes after them.
// CHECK-LABEL: func.func @in_place_tensors(%{{.*}}: tensor<4x4xf32>)
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK-LABEL: "hir.program"
// CHECK:         "hir.call"
// CHECK:         "hir.unary"(%{{.*}}, %[[X:.*]]) {kind = "neg"}
"hir.program"() ({
^bb0(%x: memref<4x4xf32>):
  %0 = "hir.unary"(%x) {kind = "exp"} : (memref<4x4xf32>) -> memref<4x4xf32>
  %1 = "hir.unary"(%0) {kind = "sqrt"} : (memref<4x4xf32>) -> memref<4x4xf32>
  "hir.unary"(%1, %x) {kind = "neg"} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  "hir.output"(%x) : (memref<4x4xf32>) -> ()
}) {sym_name = "in_place", function_type = (memref<4x4xf32>) -> memref<4x4xf32>} : () -> ()

// -----

// CHECK-LABEL: func.func @late_tensors(%{{.*}}: tensor<4x4xf32>)
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK-LABEL: "hir.program"
// CHECK:         "hir.call"
// CHECK:         "hir.matmul"
// CHECK:         "hir.unary"(%{{.*}}, %{{.*}}) {kind = "neg"}
"hir.program"() ({
^bb0(%x: memref<4x4xf32>, %w: memref<4x4xf32>):
  %0 = "hir.unary"(%x) {kind = "exp"} : (memref<4x4xf32>) -> memref<4x4xf32>
  %product = "hir.matmul"(%0, %w) : (memref<4x4xf32>, memref<4x4xf32>) -> memref<4x4xf32>
  %1 = "hir.unary"(%0) {kind = "sqrt"} : (memref<4x4xf32>) -> memref<4x4xf32>
  "hir.unary"(%1, %w) {kind = "neg"} : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  "hir.output"(%product) : (memref<4x4xf32>) -> ()
}) {sym_name = "late", function_type = (memref<4x4xf32>, memref<4x4xf32>) -> memref<4x4xf32>} : () -> ()

// -----

// A destination that one of them makes is written after it.
// CHECK-LABEL: func.func @made_tensors(%{{.*}}: tensor<8xf32>) -> tensor<8xf32>
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK-LABEL: "hir.program"
// CHECK:         %[[CALLED:.*]] = "hir.call"
// CHECK:         %[[MADE:.*]] = "hir.result"(%[[CALLED]])
// CHECK:         "hir.set"(%{{.*}}, %[[MADE]])
"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %0 = "hir.unary"(%x) {kind = "exp"} : (memref<8xf32>) -> memref<8xf32>
  %1 = "hir.unary"(%0) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.set"(%y, %1) : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.output"(%1) : (memref<8xf32>) -> ()
}) {sym_name = "made", function_type = (memref<8xf32>, memref<8xf32>) -> memref<8xf32>} : () -> ()

// -----

// What another stream, a write or memory of another name stands between is no stretch.
// CHECK-NOT:   func.func
// CHECK-LABEL: "hir.program"
// CHECK-NOT:     "hir.call"
// CHECK:         sym_name = "apart"
"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %0 = "hir.unary"(%x) {kind = "exp"} : (memref<8xf32>) -> memref<8xf32>
  %stream = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  "hir.set_stream"(%stream) : (!hir.stream_t) -> ()
  %1 = "hir.unary"(%0) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.unary"(%0, %0) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  %2 = "hir.unary"(%x) {kind = "exp"} : (memref<8xf32>) -> memref<8xf32>
  %3 = "hir.unary"(%2) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.alias"(%3, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.output"(%1) : (memref<8xf32>) -> ()
}) {sym_name = "apart", function_type = (memref<8xf32>, memref<8xf32>) -> memref<8xf32>} : () -> ()

// -----

// Copies that are to be written to, work with a stream axis, elements stored as other types, and
// reductions of no elements stay as they are.
// CHECK-NOT:   func.func
// CHECK-LABEL: "hir.program"
// CHECK-NOT:     "hir.call"
// CHECK:         sym_name = "others"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %t: memref<8xtf32>, %none: memref<8x0xf32>):
  %sums = "hir.reduce"(%none) {kind = "sum", axes = array<i64: 1>} : (memref<8x0xf32>) -> memref<8xf32>
  %4 = "hir.unary"(%sums) {kind = "exp"} : (memref<8xf32>) -> memref<8xf32>
  %0 = "hir.set"(%x) : (memref<4x8xf32>) -> memref<4x8xf32>
  %1 = "hir.unary"(%0) {kind = "exp", stream_axis = 0 : i64} : (memref<4x8xf32>) -> memref<4x8xf32>
  %2 = "hir.unary"(%t) {kind = "exp"} : (memref<8xtf32>) -> memref<8xtf32>
  %3 = "hir.unary"(%2) {kind = "neg"} : (memref<8xtf32>) -> memref<8xtf32>
  "hir.output"(%1) : (memref<4x8xf32>) -> ()
  "hir.output"(%3) : (memref<8xtf32>) -> ()
  "hir.output"(%4) : (memref<8xf32>) -> ()
}) {sym_name = "others", function_type = (memref<4x8xf32>, memref<8xtf32>, memref<8x0xf32>) -> (memref<4x8xf32>, memref<8xtf32>, memref<8xf32>)} : () -> ()

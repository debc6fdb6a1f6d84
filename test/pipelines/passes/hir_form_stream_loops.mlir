// RUN: hirc-opt %s --split-input-file --pass-pipeline='builtin.module(hir-form-stream-loops{pool=4},canonicalize,cse)' | FileCheck %s
// RUN: hirc-opt %s --split-input-file --pass-pipeline='builtin.module(hir-form-stream-loops)' | FileCheck %s --check-prefix=DEFAULT

// One operation; an operand that broadcasts along the axis is used whole.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%{{.*}}: memref<8x4xf32>, %[[BIAS:.*]]: memref<4xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x4xf32>
// CHECK-NEXT: "hir.for"(%[[ZERO]], %[[EIGHT]], %[[ONE]]) ({
// CHECK-NEXT: ^bb0(%[[I:.*]]: index):
// CHECK-NEXT: %[[FROM:.*]] = "hir.select"(%{{.*}}, %[[I]]) {axis = 0 : i64}
// CHECK-NEXT: %[[TO:.*]] = "hir.select"(%[[Y]], %[[I]]) {axis = 0 : i64}
// CHECK-NEXT: "hir.binary"(%[[FROM]], %[[BIAS]], %[[TO]]) {kind = "add"}
// CHECK-NEXT: }) {streams = 4 : i64}
// CHECK-NEXT: "hir.reduce"(%[[Y]])
// DEFAULT: {streams = 8 : i64}
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %bias: memref<4xf32>):
  %y = "hir.binary"(%x, %bias) {kind = "add", stream_axis = 0 : i64}
    : (memref<8x4xf32>, memref<4xf32>) -> memref<8x4xf32>
  %s = "hir.reduce"(%y) {kind = "sum", axes = array<i64>} : (memref<8x4xf32>) -> memref<f32>
  "hir.output"(%s) : (memref<f32>) -> ()
}) {sym_name = "one", function_type = (memref<8x4xf32>, memref<4xf32>) -> memref<f32>} : () -> ()

// -----

// Values that cross along the axis of both: one loop. The output is the caller's buffer, whose
// strides are not known. A size of 1 is taken at 0.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%{{.*}}: memref<?x4xf32>, %{{.*}}: memref<1x4xf32>):
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[A:.*]] = "hir.allocate"(%[[N]]) : (index) -> memref<?x4xf32>
// CHECK: %[[B:.*]] = "hir.allocate"(%[[N]]) {output = 0 : i64} : (index) -> memref<?xf32, strided<[?], offset: ?>>
// CHECK: %[[ROW:.*]] = "hir.select"(%{{.*}}, %c0) {axis = 0 : i64}
// CHECK: "hir.for"(%{{.*}}, %[[N]], %{{.*}}) ({
// CHECK: %[[X_I:.*]] = "hir.select"
// CHECK: %[[A_I:.*]] = "hir.select"(%[[A]]
// CHECK: "hir.binary"(%[[X_I]], %[[ROW]], %[[A_I]])
// CHECK: %[[B_I:.*]] = "hir.select"(%[[B]]{{.*}} -> memref<f32, strided<[], offset: ?>>
// CHECK: "hir.reduce"(%[[A_I]], %[[B_I]]) {axes = array<i64: 0>, kind = "sum"}
// CHECK-NEXT: })
// CHECK-NOT: hir.for
// CHECK: "hir.output"(%[[B]])
"hir.program"() ({
^bb0(%x: memref<?x4xf32>, %row: memref<1x4xf32>):
  %y = "hir.binary"(%x, %row) {kind = "mul", stream_axis = 0 : i64}
    : (memref<?x4xf32>, memref<1x4xf32>) -> memref<?x4xf32>
  %s = "hir.reduce"(%y) {kind = "sum", axes = array<i64: 1>, stream_axis = 0 : i64}
    : (memref<?x4xf32>) -> memref<?xf32>
  "hir.output"(%s) : (memref<?xf32>) -> ()
}) {sym_name = "merged", function_type = (memref<?x4xf32>, memref<1x4xf32>) -> memref<?xf32>} : () -> ()

// -----

// Different extents: two loops. Equal names of sizes are equal extents: one loop.
// CHECK-LABEL: "hir.program"() ({
// CHECK: "hir.for"
// CHECK: "hir.unary"({{.*}}kind = "neg"
// CHECK: "hir.unary"({{.*}}kind = "abs"
// CHECK: {streams = 4 : i64}
// CHECK: "hir.for"
// CHECK: "hir.unary"({{.*}}kind = "exp"
// CHECK: {streams = 4 : i64}
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>):
  "hir.unary"(%x, %x) {kind = "neg", stream_axis = 0 : i64} : (memref<?xf32>, memref<?xf32>) -> ()
  "hir.unary"(%y, %y) {kind = "abs", stream_axis = 0 : i64} : (memref<?xf32>, memref<?xf32>) -> ()
  "hir.unary"(%z, %z) {kind = "exp", stream_axis = 0 : i64} : (memref<?xf32>, memref<?xf32>) -> ()
}) {sym_name = "disjoint", function_type = (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> (),
    inputs = [{name = "x", sizes = ["n"]}, {name = "y", sizes = ["n"]}, {name = "z", sizes = ["m"]}]} : () -> ()

// -----

// An inner axis, and a destination: nothing is allocated.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x6x4xf32>, %[[Y:.*]]: memref<8x6x4xf32>):
// CHECK-NOT: hir.allocate
// CHECK: "hir.for"(%c0, %c6, %c1)
// CHECK: %[[X_I:.*]] = "hir.select"(%[[X]], %{{.*}}) {axis = 1 : i64}
// CHECK: %[[Y_I:.*]] = "hir.select"(%[[Y]], %{{.*}}) {axis = 1 : i64}
// CHECK: "hir.unary"(%[[X_I]], %[[Y_I]]) {kind = "cast"}
"hir.program"() ({
^bb0(%x: memref<8x6x4xf32>, %y: memref<8x6x4xf32>):
  "hir.unary"(%x, %y) {kind = "cast", stream_axis = 1 : i64}
    : (memref<8x6x4xf32>, memref<8x6x4xf32>) -> ()
}) {sym_name = "inner", function_type = (memref<8x6x4xf32>, memref<8x6x4xf32>) -> ()} : () -> ()

// -----

// A reduction of the dim before the axis, without and with it kept.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%{{.*}}: memref<5x8x3xf32>):
// CHECK: "hir.for"(%c0, %c8, %c1)
// CHECK: "hir.select"({{.*}}) {axis = 1 : i64} : (memref<5x8x3xf32>, index) -> memref<5x3xf32
// CHECK: "hir.select"({{.*}}) {axis = 0 : i64} : (memref<8xf32>, index)
// CHECK: "hir.reduce"({{.*}}) {axes = array<i64: 0, 1>, kind = "max"}
// CHECK: "hir.select"({{.*}}) {axis = 1 : i64} : (memref<1x8x1xf32>, index) -> memref<1x1xf32
// CHECK: "hir.reduce"({{.*}}) {axes = array<i64: 0, 1>, keep_dims, kind = "max"}
"hir.program"() ({
^bb0(%x: memref<5x8x3xf32>):
  %a = "hir.reduce"(%x) {kind = "max", axes = array<i64: 0, 2>, stream_axis = 0 : i64}
    : (memref<5x8x3xf32>) -> memref<8xf32>
  %b = "hir.reduce"(%x) {kind = "max", axes = array<i64: 0, 2>, keep_dims, stream_axis = 1 : i64}
    : (memref<5x8x3xf32>) -> memref<1x8x1xf32>
  %c = "hir.reduce"(%a) {kind = "sum", axes = array<i64>} : (memref<8xf32>) -> memref<f32>
  %d = "hir.reduce"(%b) {kind = "sum", axes = array<i64>} : (memref<1x8x1xf32>) -> memref<f32>
}) {sym_name = "reductions", function_type = (memref<5x8x3xf32>) -> ()} : () -> ()

// -----

// Matrix products along a batch dim (which the second operand has not), rows, and columns.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x6x4xf32>, %[[Y:.*]]: memref<4x2xf32>
// CHECK: "hir.for"(%c0, %c8, %c1)
// CHECK: %[[X_I:.*]] = "hir.select"(%[[X]], %{{.*}}) {axis = 0 : i64}
// CHECK: "hir.matmul"(%[[X_I]], %[[Y]], %{{.*}})
// CHECK: "hir.for"(%c0, %c6, %c1)
// CHECK: ^bb0(%[[I:.*]]: index):
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK: %[[X_I:.*]] = "hir.slice"(%[[X]], %[[I]], %[[NEXT]]) {axis = 1 : i64}
// CHECK: "hir.slice"({{.*}}) {axis = 1 : i64} : (memref<8x6x2xf32>
// CHECK: "hir.matmul"(%[[X_I]], %[[Y]], %{{.*}})
// CHECK: "hir.for"(%c0, %c2, %c1)
// CHECK: %[[Y_I:.*]] = "hir.slice"(%[[Y]], {{.*}}) {axis = 1 : i64}
// CHECK: "hir.slice"({{.*}}) {axis = 2 : i64} : (memref<8x6x2xf32>
// CHECK: "hir.matmul"(%[[X]], %[[Y_I]], %{{.*}})
"hir.program"() ({
^bb0(%x: memref<8x6x4xf32>, %y: memref<4x2xf32>, %o: memref<8x6x2xf32>):
  "hir.matmul"(%x, %y, %o) {stream_axis = 0 : i64} : (memref<8x6x4xf32>, memref<4x2xf32>, memref<8x6x2xf32>) -> ()
  "hir.matmul"(%x, %y, %o) {stream_axis = 1 : i64} : (memref<8x6x4xf32>, memref<4x2xf32>, memref<8x6x2xf32>) -> ()
  "hir.matmul"(%x, %y, %o) {stream_axis = 2 : i64} : (memref<8x6x4xf32>, memref<4x2xf32>, memref<8x6x2xf32>) -> ()
}) {sym_name = "products", function_type = (memref<8x6x4xf32>, memref<4x2xf32>, memref<8x6x2xf32>) -> ()} : () -> ()

// -----

// Rows, and columns with their bias, of a linear layer.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<6x4xf32>, %[[W:.*]]: memref<2x4xf32>, %[[BIAS:.*]]: memref<2xf32>, %[[O:.*]]: memref<6x2xf32>
// CHECK: "hir.slice"(%[[X]], {{.*}}) {axis = 0 : i64}
// CHECK: "hir.linear"(%{{.*}}, %[[W]], %[[BIAS]], %{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
// CHECK: "hir.slice"(%[[W]], {{.*}}) {axis = 0 : i64}
// CHECK: "hir.slice"(%[[BIAS]], {{.*}}) {axis = 0 : i64}
// CHECK: "hir.slice"(%[[O]], {{.*}}) {axis = 1 : i64}
// CHECK: "hir.linear"(%[[X]], %{{.*}}, %{{.*}}, %{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
"hir.program"() ({
^bb0(%x: memref<6x4xf32>, %w: memref<2x4xf32>, %bias: memref<2xf32>, %o: memref<6x2xf32>):
  "hir.linear"(%x, %w, %bias, %o) {operandSegmentSizes = array<i32: 1, 1, 1, 1>, stream_axis = 0 : i64}
    : (memref<6x4xf32>, memref<2x4xf32>, memref<2xf32>, memref<6x2xf32>) -> ()
  "hir.linear"(%x, %w, %bias, %o) {operandSegmentSizes = array<i32: 1, 1, 1, 1>, stream_axis = 1 : i64}
    : (memref<6x4xf32>, memref<2x4xf32>, memref<2xf32>, memref<6x2xf32>) -> ()
}) {sym_name = "linear", function_type = (memref<6x4xf32>, memref<2x4xf32>, memref<2xf32>, memref<6x2xf32>) -> ()} : () -> ()

// -----

// A value that crosses to another axis, or to an operation that is not spread, splits the loops;
// so does one that is written after it was read whole.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>, %[[F:.*]]: memref<8x8xf32>
// CHECK: "hir.for"
// CHECK: {kind = "neg"}
// CHECK-NEXT: }) {streams = 4 : i64}
// CHECK: "hir.for"
// CHECK: {kind = "abs"}
// CHECK-NEXT: }) {streams = 4 : i64}
// CHECK-NEXT: "hir.unary"({{.*}}) {kind = "exp"}
// CHECK: "hir.for"
// CHECK: {kind = "sin"}
// CHECK: "hir.matmul"(%{{.*}}, %[[F]], %{{.*}})
// CHECK-NEXT: }) {streams = 4 : i64}
// CHECK: "hir.for"
// CHECK: {kind = "cos"}
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %f: memref<8x8xf32>):
  %a = "hir.unary"(%x) {kind = "neg", stream_axis = 0 : i64} : (memref<8x8xf32>) -> memref<8x8xf32>
  %b = "hir.unary"(%a) {kind = "abs", stream_axis = 1 : i64} : (memref<8x8xf32>) -> memref<8x8xf32>
  %c = "hir.unary"(%b) {kind = "exp"} : (memref<8x8xf32>) -> memref<8x8xf32>
  %d = "hir.unary"(%c) {kind = "sin", stream_axis = 0 : i64} : (memref<8x8xf32>) -> memref<8x8xf32>
  %e = "hir.matmul"(%d, %f) {stream_axis = 0 : i64} : (memref<8x8xf32>, memref<8x8xf32>) -> memref<8x8xf32>
  "hir.unary"(%x, %f) {kind = "cos", stream_axis = 0 : i64} : (memref<8x8xf32>, memref<8x8xf32>) -> ()
  %g = "hir.reduce"(%e) {kind = "sum", axes = array<i64>} : (memref<8x8xf32>) -> memref<f32>
}) {sym_name = "crossing", function_type = (memref<8x8xf32>, memref<8x8xf32>) -> ()} : () -> ()

// -----

// What does not touch the loop's buffers may stand between its operations; a view of them is read,
// and it lies elsewhere than the slices.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>, %{{.*}}: memref<8x8xf32>
// CHECK: "hir.unary"({{.*}}) {kind = "exp"}
// CHECK: "hir.permute"
// CHECK: "hir.for"
// CHECK: {kind = "neg"}
// CHECK: {kind = "abs"}
// CHECK-NEXT: }) {streams = 4 : i64}
// CHECK: "hir.for"
// CHECK: {kind = "sin"}
// CHECK-NEXT: }) {streams = 4 : i64}
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %y: memref<8x8xf32>):
  %a = "hir.unary"(%x) {kind = "neg", stream_axis = 0 : i64} : (memref<8x8xf32>) -> memref<8x8xf32>
  %b = "hir.unary"(%x) {kind = "exp"} : (memref<8x8xf32>) -> memref<8x8xf32>
  %turned = "hir.permute"(%a) {order = array<i64: 1, 0>} : (memref<8x8xf32>) -> memref<8x8xf32, strided<[1, 8]>>
  %c = "hir.unary"(%b) {kind = "abs", stream_axis = 0 : i64} : (memref<8x8xf32>) -> memref<8x8xf32>
  "hir.unary"(%turned, %y) {kind = "sin", stream_axis = 0 : i64} : (memref<8x8xf32, strided<[1, 8]>>, memref<8x8xf32>) -> ()
  %d = "hir.reduce"(%c) {kind = "sum", axes = array<i64>} : (memref<8x8xf32>) -> memref<f32>
}) {sym_name = "between", function_type = (memref<8x8xf32>, memref<8x8xf32>) -> ()} : () -> ()

// -----

// Sizes that may be 1 when the program runs: it checks that they broadcast, and does not go beyond
// the size of an operand.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>):
// CHECK-DAG: %[[NX:.*]] = memref.dim %[[X]]
// CHECK-DAG: %[[NY:.*]] = memref.dim %[[Y]]
// CHECK: cf.assert %{{.*}}, "hir.binary: the operands' sizes of dim 0 do not broadcast"
// CHECK: %[[N:.*]] = arith.select %{{.*}}, %[[NY]], %[[NX]]
// CHECK: "hir.allocate"(%[[N]])
// CHECK: %[[LAST:.*]] = arith.subi %[[NX]], %c1
// CHECK: "hir.for"(%c0, %[[N]], %c1)
// CHECK-NEXT: ^bb0(%[[I:.*]]: index):
// CHECK-NEXT: %[[PLACE:.*]] = arith.minsi %[[I]], %[[LAST]]
// CHECK-NEXT: "hir.select"(%[[X]], %[[PLACE]])
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>):
  %z = "hir.binary"(%x, %y) {kind = "add", stream_axis = 0 : i64} : (memref<?xf32>, memref<?xf32>) -> memref<?xf32>
  "hir.output"(%z) : (memref<?xf32>) -> ()
}) {sym_name = "open", function_type = (memref<?xf32>, memref<?xf32>) -> memref<?xf32>} : () -> ()

// -----

// A destination of another open size.
// CHECK: cf.assert %{{.*}}, "hir.unary: the size of dim 0 of operand 0 is neither 1 nor the result's"
// CHECK: cf.assert %{{.*}}, "hir.reduce: the size of dim 1 of operand 0 is not the result's"
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<4x?xf32>):
  "hir.unary"(%x, %y) {kind = "neg", stream_axis = 0 : i64} : (memref<?xf32>, memref<?xf32>) -> ()
  "hir.reduce"(%z, %y) {kind = "sum", axes = array<i64: 0>, stream_axis = 0 : i64} : (memref<4x?xf32>, memref<?xf32>) -> ()
}) {sym_name = "into", function_type = (memref<?xf32>, memref<?xf32>, memref<4x?xf32>) -> ()} : () -> ()

// -----

// Loops and branches hold work too.
// CHECK: "hir.for"
// CHECK: "hir.for"
// CHECK: "hir.set"(%cst, %{{.*}})
// CHECK: {streams = 4 : i64}
"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %n: index):
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  "hir.for"(%one, %n, %one) ({
  ^bb0(%i: index):
    "hir.set"(%zero, %x) {stream_axis = 0 : i64} : (f32, memref<8x4xf32>) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "nested", function_type = (memref<8x4xf32>, index) -> ()} : () -> ()

// RUN: hirc-opt %s --hir-insert-allocations --split-input-file | FileCheck %s

// Open sizes come from the operands. The output may be the caller's buffer, of any strides, and so
// may views of it be.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<?x64xf32>, %{{.*}}: memref<64xf32>):
// CHECK:         %[[N:.*]] = memref.dim %[[X:.*]], %{{.*}}
// CHECK-NEXT:    %[[S:.*]] = "hir.allocate"(%[[N]]) : (index) -> memref<?x64xf32>
// CHECK-NEXT:    "hir.binary"(%[[X]], %{{.*}}, %[[S]]) {kind = "add"}
// CHECK-NEXT:    %[[Y:.*]] = "hir.allocate"(%[[N]]) {output = 0 : i64} : (index) -> memref<?x64xf32, strided<[?, ?], offset: ?>>
// CHECK-NEXT:    "hir.unary"(%[[S]], %[[Y]]) {kind = "relu"}
// CHECK:         "hir.select"(%[[Y]], {{.*}} -> memref<64xf32, strided<[?], offset: ?>>
// CHECK:         "hir.output"(%[[Y]])
// CHECK:         "hir.output"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<?x64xf32>, %bias: memref<64xf32>):
  %s = "hir.binary"(%x, %bias) {kind = "add"} : (memref<?x64xf32>, memref<64xf32>) -> memref<?x64xf32>
  %y = "hir.unary"(%s) {kind = "relu"} : (memref<?x64xf32>) -> memref<?x64xf32>
  %zero = arith.constant 0 : index
  %row = "hir.select"(%y, %zero) {axis = 0 : i64} : (memref<?x64xf32>, index) -> memref<64xf32, strided<[1], offset: ?>>
  "hir.set"(%bias, %row) : (memref<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?x64xf32>) -> ()
  "hir.output"(%y) {name = "again"} : (memref<?x64xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x64xf32>, memref<64xf32>) -> (memref<?x64xf32>, memref<?x64xf32>)} : () -> ()

// -----

// A view of an output that not all strides allow keeps its type: the caller's buffer is packed then.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<8x4xf32>):
// CHECK:         "hir.allocate"() {output = 1 : i64} : () -> memref<8x4xf32>
// CHECK:         hir.reshape
// An input and a view are no allocation.
"hir.program"() ({
^bb0(%x: memref<8x4xf32>):
  %y = "hir.set"(%x) : (memref<8x4xf32>) -> memref<8x4xf32>
  %flat = "hir.reshape"(%y) : (memref<8x4xf32>) -> memref<32xf32>
  "hir.output"(%x) {name = "x"} : (memref<8x4xf32>) -> ()
  "hir.output"(%y) {name = "y"} : (memref<8x4xf32>) -> ()
  "hir.output"(%flat) {name = "flat"} : (memref<32xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x4xf32>) -> (memref<8x4xf32>, memref<8x4xf32>, memref<32xf32>)} : () -> ()

// -----

// An allocation of the program's own is numbered.
// CHECK:         "hir.allocate"() {order = array<i64: 1, 0>, output = 0 : i64} : () -> memref<8x4xf32, strided<[?, ?], offset: ?>>
"hir.program"() ({
^bb0(%x: memref<8x4xf32>):
  %y = "hir.allocate"() {order = array<i64: 1, 0>} : () -> memref<8x4xf32, strided<[1, 8]>>
  "hir.set"(%x, %y) : (memref<8x4xf32>, memref<8x4xf32, strided<[1, 8]>>) -> ()
  "hir.output"(%y) : (memref<8x4xf32, strided<[1, 8]>>) -> ()
}) {sym_name = "main", function_type = (memref<8x4xf32>) -> memref<8x4xf32>} : () -> ()

// -----

// Products and reductions take their sizes from the operands that have them.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<?x?xf32>, %{{.*}}: memref<?x?xf32>, %{{.*}}: memref<?xf32>):
// CHECK:         %[[M:.*]] = memref.dim %[[A:.*]], %c0
// CHECK:         %[[N:.*]] = memref.dim %[[B:.*]], %c1
// CHECK:         %[[C:.*]] = "hir.allocate"(%[[M]], %[[N]])
// CHECK-NEXT:    "hir.matmul"(%[[A]], %[[B]], %[[C]])
// CHECK:         %[[R:.*]] = "hir.allocate"(%[[M]]) : (index) -> memref<?x1xf32>
// CHECK-NEXT:    "hir.reduce"(%[[C]], %[[R]])
// CHECK:         "hir.linear"({{.*}}) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
"hir.program"() ({
^bb0(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %bias: memref<?xf32>):
  %c = "hir.matmul"(%a, %b) : (memref<?x?xf32>, memref<?x?xf32>) -> memref<?x?xf32>
  %r = "hir.reduce"(%c) {kind = "sum", axes = array<i64: 1>, keep_dims} : (memref<?x?xf32>) -> memref<?x1xf32>
  %l = "hir.linear"(%a, %b, %bias) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<?x?xf32>, memref<?x?xf32>, memref<?xf32>) -> memref<?x?xf32>
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// A branch allocates what it gives; a call is given what its caller can tell the sizes of.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<?xf32>, %{{.*}}: i1):
// CHECK:         hir.if
// CHECK:           %[[A:.*]] = "hir.allocate"
// CHECK-SAME:        -> memref<?xf32>
// CHECK-NEXT:      "hir.unary"(%{{.*}}, %[[A]])
// CHECK-NEXT:      "hir.output"(%[[A]])
// CHECK:         }) : (i1) -> !hir.results_t
// CHECK:         %[[N:.*]] = memref.dim %[[X:.*]], %c0
// CHECK-NEXT:    %[[Y:.*]] = "hir.allocate"(%[[N]]) {output = 0 : i64}
// CHECK-NEXT:    "hir.call"() ({
// CHECK-NEXT:      "hir.argument"(%[[X]]) :
// CHECK-NEXT:      "hir.argument"(%[[Y]]) {destination = 0 : i64}
// CHECK-NEXT:    })
// CHECK-NEXT:    "hir.output"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<?xf32>, %c: i1):
  %branch = "hir.if"(%c) ({
    %a = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
    "hir.output"(%a) : (memref<?xf32>) -> ()
  }, {
    %a = "hir.unary"(%x) {kind = "abs"} : (memref<?xf32>) -> memref<?xf32>
    "hir.output"(%a) : (memref<?xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %results = "hir.call"() ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
  }) {callee = @callee} : () -> !hir.results_t
  %y = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> memref<?xf32>
  "hir.output"(%y) : (memref<?xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?xf32>, i1) -> memref<?xf32>} : () -> ()

"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  "hir.output"(%y) : (memref<?xf32>) -> ()
}) {sym_name = "callee", function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()

// -----

// An output that another program takes packed, or in an order that no packed buffer has, keeps its
// strides; what the callee gives in such an order is the callee's to allocate.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<4x2xf32>):
// CHECK-NEXT:    %[[Y:.*]] = "hir.allocate"() {output = 0 : i64} : () -> memref<4x2xf32>
// CHECK-NEXT:    "hir.unary"(%{{.*}}, %[[Y]])
// CHECK-NEXT:    "hir.call"() ({
// CHECK-NEXT:      "hir.argument"(%[[Y]]) :
// CHECK-NEXT:    })
"hir.program"() ({
^bb0(%x: memref<4x2xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<4x2xf32>) -> memref<4x2xf32>
  %results = "hir.call"() ({
    "hir.argument"(%y) : (memref<4x2xf32>) -> ()
  }) {callee = @callee} : () -> !hir.results_t
  %z = "hir.result"(%results) {index = 0 : i64}
      : (!hir.results_t) -> memref<4x2xf32, strided<[1, 4]>>
  "hir.output"(%y) : (memref<4x2xf32>) -> ()
  "hir.output"(%z) : (memref<4x2xf32, strided<[1, 4]>>) -> ()
}) {sym_name = "main",
    function_type = (memref<4x2xf32>) -> (memref<4x2xf32>, memref<4x2xf32, strided<[1, 4]>>)} : () -> ()

"hir.program"() ({
^bb0(%x: memref<4x2xf32>):
  %y = "hir.allocate"() {order = array<i64: 1, 0>} : () -> memref<4x2xf32, strided<[1, 4]>>
  "hir.unary"(%x, %y) {kind = "neg"} : (memref<4x2xf32>, memref<4x2xf32, strided<[1, 4]>>) -> ()
  "hir.output"(%y) : (memref<4x2xf32, strided<[1, 4]>>) -> ()
}) {sym_name = "callee",
    function_type = (memref<4x2xf32>) -> memref<4x2xf32, strided<[1, 4]>>} : () -> ()

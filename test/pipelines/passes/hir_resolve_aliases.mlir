// RUN: hirc-opt %s --hir-resolve-aliases | FileCheck %s

// What makes the buffer writes to the target, which takes its place in all uses.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32, strided<[2]>>):
// CHECK-NEXT:    "hir.unary"(%[[X:.*]], %[[Y:.*]]) {kind = "neg"} : (memref<8xf32>, memref<8xf32, strided<[2]>>) -> ()
// CHECK-NEXT:    "hir.unary"(%[[Y]], %[[X]]) {kind = "abs"}
// CHECK-NOT:     hir.alias
// A view's type leaves open what follows from other strides now.
// CHECK:         "hir.slice"(%[[Y]], {{.*}} -> memref<4xf32, strided<[?], offset: ?>>
// CHECK:         "hir.output"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32, strided<[2]>>):
  %t = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.unary"(%t, %x) {kind = "abs"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.alias"(%t, %y) : (memref<8xf32>, memref<8xf32, strided<[2]>>) -> ()
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %half = "hir.slice"(%t, %zero, %four) {axis = 0 : i64} : (memref<8xf32>, index, index) -> memref<4xf32>
  "hir.output"(%t) : (memref<8xf32>) -> ()
  "hir.output"(%half) {name = "half"} : (memref<4xf32>) -> ()
}) {sym_name = "target", function_type = (memref<8xf32>, memref<8xf32, strided<[2]>>) -> (memref<8xf32>, memref<4xf32>)} : () -> ()

// A chain leads to its last target. One that is computed later is allocated before all.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<?xf32>):
// CHECK:         %[[N:.*]] = memref.dim %[[X:.*]], %{{.*}}
// CHECK-NEXT:    %[[C:.*]] = "hir.allocate"(%[[N]]) : (index) -> memref<?xf32>
// CHECK-NEXT:    "hir.unary"(%[[X]], %[[C]]) {kind = "neg"}
// CHECK-NEXT:    "hir.unary"(%[[C]], %[[C]]) {kind = "abs"}
// CHECK-NEXT:    "hir.unary"(%[[C]], %[[C]]) {kind = "exp"}
// CHECK-NEXT:    "hir.output"(%[[C]])
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  %b = "hir.unary"(%a) {kind = "abs"} : (memref<?xf32>) -> memref<?xf32>
  %c = "hir.unary"(%b) {kind = "exp"} : (memref<?xf32>) -> memref<?xf32>
  "hir.alias"(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
  "hir.alias"(%b, %c) : (memref<?xf32>, memref<?xf32>) -> ()
  "hir.output"(%c) : (memref<?xf32>) -> ()
}) {sym_name = "chain", function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()

// An allocation is the target; a call is given it; zeros are written.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>):
// CHECK-NOT:     hir.allocate
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    "hir.set"(%[[ZERO]], %[[Y:.*]]) : (f32, memref<4xf32>) -> ()
// CHECK-NEXT:    "hir.binary"(%[[Y]], %[[X:.*]], %[[Y]])
// CHECK-NEXT:    "hir.call"
// CHECK-NEXT:      "hir.argument"(%[[X]]) :
// CHECK-NEXT:      "hir.argument"(%[[Z:.*]]) {destination = 0 : i64}
// CHECK:         "hir.output"(%[[Z]])
"hir.program"() ({
^bb0(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>):
  %t = "hir.allocate"() {zero_init} : () -> memref<4xf32>
  "hir.binary"(%t, %x, %t) {kind = "add"} : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  %results = "hir.call"() ({
    "hir.argument"(%x) : (memref<4xf32>) -> ()
  }) {callee = @callee} : () -> !hir.results_t
  %u = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> memref<4xf32>
  "hir.alias"(%t, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  "hir.alias"(%u, %z) : (memref<4xf32>, memref<4xf32>) -> ()
  "hir.output"(%u) : (memref<4xf32>) -> ()
}) {sym_name = "others", function_type = (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> memref<4xf32>} : () -> ()

"hir.program"() ({
^bb0(%x: memref<4xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<4xf32>) -> memref<4xf32>
  "hir.output"(%y) : (memref<4xf32>) -> ()
}) {sym_name = "callee", function_type = (memref<4xf32>) -> memref<4xf32>} : () -> ()

// What a region of linalg loads itself may have any strides: there is no cast in it.
// CHECK:         %[[ROW:.*]] = "hir.select"
// CHECK:         memref.load %[[ROW]][%{{.*}}] : memref<8xf32, strided<[?], offset: ?>>
"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>, %pair: memref<2x8xf32>):
  %zero = arith.constant 0 : index
  %row = "hir.select"(%pair, %zero) {axis = 0 : i64} : (memref<2x8xf32>, index) -> memref<8xf32, strided<[?], offset: ?>>
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.alias"(%a, %row) : (memref<8xf32>, memref<8xf32, strided<[?], offset: ?>>) -> ()
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %e = memref.load %a[%i] : memref<8xf32>
    linalg.yield %e : f32
  }
}) {sym_name = "region", function_type = (memref<8xf32>, memref<8xf32>, memref<2x8xf32>) -> ()} : () -> ()

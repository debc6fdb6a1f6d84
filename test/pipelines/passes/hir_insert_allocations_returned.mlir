// RUN: hirc-opt %s --hir-insert-allocations --split-input-file | FileCheck %s

// What is returned in another shape is allocated in that.

// CHECK-LABEL: ^bb0(%{{.*}}: memref<8x24x13xf32>):
// CHECK:         %[[W:.*]] = "hir.allocate"() {output = 0 : i64} : () -> memref<8x2x12x13xf32>
// CHECK-NEXT:    %[[Y:.*]] = memref.collapse_shape %[[W]] {{\[\[}}0], [1, 2], [3]] : memref<8x2x12x13xf32> into memref<8x24x13xf32>
// CHECK-NEXT:    "hir.unary"(%{{.*}}, %[[Y]])
// CHECK-NEXT:    "hir.output"(%[[W]])
"hir.program"() ({
^bb0(%x: memref<8x24x13xf32>):
  %y = "hir.allocate"() : () -> memref<8x24x13xf32>
  "hir.unary"(%x, %y) {kind = "neg"} : (memref<8x24x13xf32>, memref<8x24x13xf32>) -> ()
  %v = memref.expand_shape %y [[0], [1, 2], [3]] output_shape [8, 2, 12, 13] : memref<8x24x13xf32> into memref<8x2x12x13xf32>
  "hir.output"(%v) {name = "v"} : (memref<8x2x12x13xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x24x13xf32>) -> memref<8x2x12x13xf32>} : () -> ()

// -----

// Of open sizes, and through several reshapes.

// CHECK-LABEL: ^bb0(%{{.*}}: memref<?x?x6xf32>):
// CHECK:         %[[M:.*]] = memref.dim %{{.*}}, %c0
// CHECK:         %[[N:.*]] = memref.dim %{{.*}}, %c1
// CHECK:         %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[T:.*]] = arith.muli %[[N]], %[[TWO]]
// CHECK:         %[[W:.*]] = "hir.allocate"(%[[M]], %[[T]]) {output = 0 : i64} : (index, index) -> memref<?x?x3xf32>
// CHECK:         %[[C:.*]] = memref.collapse_shape %[[W]] {{\[\[}}0], [1, 2]] : memref<?x?x3xf32> into memref<?x?xf32>
// CHECK:         %[[Y:.*]] = memref.expand_shape %[[C]] {{\[\[}}0], [1, 2]] output_shape [%[[M]], %[[N]], 6]
// CHECK:         "hir.unary"(%{{.*}}, %[[Y]])
// CHECK:         "hir.output"(%[[W]])
"hir.program"() ({
^bb0(%x: memref<?x?x6xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?x6xf32>
  %n = memref.dim %x, %c1 : memref<?x?x6xf32>
  %y = "hir.allocate"(%m, %n) : (index, index) -> memref<?x?x6xf32>
  "hir.unary"(%x, %y) {kind = "neg"} : (memref<?x?x6xf32>, memref<?x?x6xf32>) -> ()
  %f = memref.collapse_shape %y [[0], [1, 2]] : memref<?x?x6xf32> into memref<?x?xf32>
  %c2 = arith.constant 2 : index
  %t = arith.muli %n, %c2 : index
  %v = memref.expand_shape %f [[0], [1, 2]] output_shape [%m, %t, 3] : memref<?x?xf32> into memref<?x?x3xf32>
  "hir.output"(%v) {name = "v"} : (memref<?x?x3xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x?x6xf32>) -> memref<?x?x3xf32>} : () -> ()

// -----

// Sizes are computed before, with the assertions that they stand behind.

// CHECK-LABEL: ^bb0(%{{.*}}: memref<?xf32>, %{{.*}}: index):
// CHECK:         %[[N:.*]] = memref.dim
// CHECK-NEXT:    %[[IS:.*]] = arith.cmpi ne
// CHECK-NEXT:    cf.assert %[[IS]]
// CHECK-NEXT:    %[[Q:.*]] = arith.divui %[[N]], %[[K:.*]] : index
// CHECK-NEXT:    %[[W:.*]] = "hir.allocate"(%[[K]], %[[Q]]) {output = 0 : i64}
// CHECK-NEXT:    memref.collapse_shape %[[W]]
// CHECK:         "hir.output"(%[[W]])
"hir.program"() ({
^bb0(%z: memref<?xf32>, %k: index):
  %c0 = arith.constant 0 : index
  %n = memref.dim %z, %c0 : memref<?xf32>
  %w = "hir.allocate"(%n) : (index) -> memref<?xf32>
  "hir.unary"(%z, %w) {kind = "neg"} : (memref<?xf32>, memref<?xf32>) -> ()
  %is = arith.cmpi ne, %k, %c0 : index
  cf.assert %is, "a division by 0 has no result"
  %q = arith.divui %n, %k : index
  %u = memref.expand_shape %w [[0, 1]] output_shape [%k, %q] : memref<?xf32> into memref<?x?xf32>
  "hir.output"(%u) {name = "u"} : (memref<?x?xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?xf32>, index) -> memref<?x?xf32>} : () -> ()

// -----

// Not what two outputs show, nor in sizes that are asked of the memory itself.

// CHECK-LABEL: ^bb0(%{{.*}}: memref<32xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: index):
// CHECK:         "hir.allocate"() {output = 1 : i64} : () -> memref<32xf32>
// CHECK:         "hir.allocate"(%{{.*}}) : (index) -> memref<?xf32>
// CHECK-NOT:     memref.collapse_shape
"hir.program"() ({
^bb0(%x: memref<32xf32>, %z: memref<?xf32>, %k: index):
  %y = "hir.allocate"() : () -> memref<32xf32>
  "hir.unary"(%x, %y) {kind = "neg"} : (memref<32xf32>, memref<32xf32>) -> ()
  %v = memref.expand_shape %y [[0, 1]] output_shape [4, 8] : memref<32xf32> into memref<4x8xf32>
  %c0 = arith.constant 0 : index
  %n = memref.dim %z, %c0 : memref<?xf32>
  %w = "hir.allocate"(%n) : (index) -> memref<?xf32>
  "hir.unary"(%z, %w) {kind = "neg"} : (memref<?xf32>, memref<?xf32>) -> ()
  %m = memref.dim %w, %c0 : memref<?xf32>
  %q = arith.divui %m, %k : index
  %u = memref.expand_shape %w [[0, 1]] output_shape [%k, %q] : memref<?xf32> into memref<?x?xf32>
  "hir.output"(%v) {name = "v"} : (memref<4x8xf32>) -> ()
  "hir.output"(%y) {name = "y"} : (memref<32xf32>) -> ()
  "hir.output"(%u) {name = "u"} : (memref<?x?xf32>) -> ()
}) {sym_name = "main", function_type = (memref<32xf32>, memref<?xf32>, index) -> (memref<4x8xf32>, memref<32xf32>, memref<?x?xf32>)} : () -> ()

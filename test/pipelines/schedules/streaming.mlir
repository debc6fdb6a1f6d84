// RUN: hirc-opt %s --split-input-file --pass-pipeline="builtin.module(hir-schedule-kernels,gpu.module(canonicalize,cse))" | FileCheck %s

// The table is read by an index that is not linear, so no other schedule takes these operations.

// A row a thread: a nest for each reduction, and one that stores. What is uniform along the row is
// computed before it.

// CHECK-LABEL: gpu.func @reduce_loops
// CHECK-SAME:    (%[[X:.*]]: memref<?x?xf32>, %[[TABLE:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?x?xf32>, %[[S:.*]]: memref<?xf32>)
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK:         scf.for %[[R:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK:           %[[MOST:.*]] = scf.for %[[C:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32) {
// CHECK-NEXT:        %[[A:.*]] = memref.load %[[X]][%[[R]], %[[C]]]
// CHECK-NEXT:        %[[NEXT:.*]] = arith.maximumf %[[SO_FAR]], %[[A]] : f32
// CHECK-NEXT:        scf.yield %[[NEXT]]
// CHECK:           %[[SUM:.*]] = scf.for
// CHECK:             math.exp
// CHECK:             arith.addf
// CHECK:           %[[PLACE:.*]] = affine.apply {{.*}}(%[[R]])
// CHECK:           %[[T:.*]] = memref.load %[[TABLE]][%[[PLACE]]]
// CHECK:           %[[SCALE:.*]] = arith.divf %[[T]], %[[SUM]] : f32
// CHECK:           scf.for %[[C:.*]] = %c0
// CHECK-NEXT:        memref.load %[[X]][%[[R]], %[[C]]]
// CHECK-NEXT:        arith.subf %{{.*}}, %[[MOST]]
// CHECK-NEXT:        %[[E:.*]] = math.exp
// CHECK-NEXT:        %[[PART:.*]] = arith.mulf %[[E]], %[[SCALE]]
// CHECK-NEXT:        memref.store %[[PART]], %[[Y]][%[[R]], %[[C]]]
// CHECK-NEXT:      }
// CHECK-NEXT:      memref.store %[[SUM]], %[[S]][%[[R]]]
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %t: memref<?xf32>, %y: memref<?x?xf32>, %s: memref<?xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r floordiv 2)>,
                                   affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %t : memref<?x?xf32>, memref<?xf32>) outs(%y, %s : memref<?x?xf32>, memref<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
    %most = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %most : f32
    %e = math.exp %less : f32
    %sum = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %scale = arith.divf %b, %sum : f32
    %part = arith.mulf %e, %scale : f32
    linalg.yield %part, %sum : f32, f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>, memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// Reductions that need nothing of one another share a nest, a place with them.

// CHECK-LABEL: gpu.func @
// CHECK:         %[[FOUND:.*]]:3 = scf.for {{.*}} -> (f32, f32, i64) {
// CHECK-NOT:     scf.for
// CHECK:         memref.store %[[FOUND]]#0
// CHECK:         memref.store %[[FOUND]]#2
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %t: memref<?xf32>, %y: memref<?xf32>, %p: memref<?xi64>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r floordiv 2)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %t : memref<?x?xf32>, memref<?xf32>) outs(%y, %p : memref<?xf32>, memref<?xi64>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %q: i64):
    %w = arith.mulf %a, %b : f32
    %sum = "hir.reduce_loops"(%w) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %most, %place = "hir.find_loops"(%w) {kind = "maximumf", loops = array<i64: 1>} : (f32) -> (f32, i64)
    linalg.yield %sum, %place : f32, i64
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>, memref<?xf32>, memref<?xi64>) -> ()} : () -> ()

// -----

// The nest that stores carries a scan, in the scan's direction; a second one in the other direction
// gets a nest of its own.

// CHECK-LABEL: gpu.func @
// CHECK-SAME:    (%[[X:[^:]*]]: memref<?x?xf32>, %{{.*}}: memref<?xf32>, %[[Y:[^:]*]]: memref<?x?xf32>, %[[Z:[^:]*]]: memref<?x?xf32>)
// CHECK:         scf.for %[[R:.*]] = {{.*}} {
// CHECK:           scf.for %[[C:.*]] = %c0 {{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32) {
// CHECK:             %[[NEXT:.*]] = arith.addf %[[SO_FAR]], %{{.*}} : f32
// CHECK:             memref.store %[[NEXT]], %[[Y]][%[[R]], %[[C]]]
// CHECK:             scf.yield %[[NEXT]]
// CHECK:           scf.for %[[N:.*]] = %c0 to %[[COUNT:.*]] step %c1 iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32) {
// CHECK:             %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK:             %[[C:.*]] = arith.subi %[[LAST]], %[[N]]
// CHECK:             memref.store %[[SO_FAR]], %[[Z]][%[[R]], %[[C]]]
// CHECK:             %[[NEXT:.*]] = arith.mulf %[[SO_FAR]], %{{.*}} : f32
// CHECK:             scf.yield %[[NEXT]]
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %t: memref<?xf32>, %y: memref<?x?xf32>, %z: memref<?x?xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r floordiv 2)>,
                                   affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %t : memref<?x?xf32>, memref<?xf32>) outs(%y, %z : memref<?x?xf32>, memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %q: f32):
    %w = arith.subf %a, %b : f32
    %p = "hir.scan_loop"(%w) {kind = "addf", loop = 1 : i64} : (f32) -> f32
    %r = "hir.scan_loop"(%w) {kind = "mulf", loop = 1 : i64, reverse, exclusive} : (f32) -> f32
    linalg.yield %p, %r : f32, f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>, memref<?x?xf32>, memref<?x?xf32>) -> ()} : () -> ()

// -----

// What the region checks is checked in every iteration, before its output is stored.

// CHECK-LABEL: gpu.func @
// CHECK:         %[[SUM:.*]] = scf.for
// CHECK:         scf.for
// CHECK:           %[[SOME:.*]] = arith.cmpi ne
// CHECK:           cf.assert %[[SOME]], "divides by 0"
// CHECK:           arith.divsi %[[SUM]]
// CHECK:           memref.store
"hir.program"() ({
^bb0(%x: memref<?x?xi32>, %t: memref<?xi32>, %y: memref<?x?xi32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r floordiv 2)>,
                                   affine_map<(r, c) -> (r, c)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %t : memref<?x?xi32>, memref<?xi32>) outs(%y : memref<?x?xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %sum = "hir.reduce_loops"(%b) {kind = "addi", loops = array<i64: 1>} : (i32) -> i32
    %zero = arith.constant 0 : i32
    %some = arith.cmpi ne, %a, %zero : i32
    cf.assert %some, "divides by 0"
    %q = arith.divsi %sum, %a : i32
    linalg.yield %q : i32
  }
}) {sym_name = "main", function_type = (memref<?x?xi32>, memref<?xi32>, memref<?x?xi32>) -> ()} : () -> ()

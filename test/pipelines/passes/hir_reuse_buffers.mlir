// RUN: hirc-opt %s --hir-reuse-buffers --split-input-file | FileCheck %s

// A freed buffer's memory is taken where the bytes certainly suffice, whatever the element type; in a
// loop too.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<?xf32>, %{{.*}}: index):
// CHECK:         %[[A:.*]] = "hir.allocate"(%[[N:.*]]) : (index) -> memref<?xf32>
// CHECK-NOT:     hir.deallocate
// CHECK:         %[[B:.*]] = "hir.reuse"(%[[A]], %{{.*}}) : (memref<?xf32>, index) -> memref<?xi32>
// CHECK-NOT:     hir.deallocate
// CHECK:         %[[C:.*]] = "hir.reuse"(%[[B]], %{{.*}}) {zero_init} : (memref<?xi32>, index) -> memref<?xf32>
// CHECK:         "hir.deallocate"(%[[C]])
// CHECK:         hir.for
// CHECK:           %[[T:.*]] = "hir.allocate"() {zero_init} : () -> memref<4xf32>
// CHECK:           "hir.reuse"(%[[T]]) : (memref<4xf32>) -> memref<4xf32>
"hir.program"() ({
^bb0(%x: memref<?xf32>, %k: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %a = "hir.allocate"(%n) : (index) -> memref<?xf32>
  "hir.unary"(%x, %a) {kind = "neg"} : (memref<?xf32>, memref<?xf32>) -> ()
  "hir.deallocate"(%a) : (memref<?xf32>) -> ()
  %m = memref.dim %a, %zero : memref<?xf32>
  %b = "hir.allocate"(%m) : (index) -> memref<?xi32>
  "hir.set"(%x, %b) : (memref<?xf32>, memref<?xi32>) -> ()
  "hir.deallocate"(%b) : (memref<?xi32>) -> ()
  %c = "hir.allocate"(%n) {zero_init} : (index) -> memref<?xf32>
  "hir.deallocate"(%c) : (memref<?xf32>) -> ()
  "hir.for"(%zero, %k, %one) ({
  ^bb0(%i: index):
    %t = "hir.allocate"() {zero_init} : () -> memref<4xf32>
    "hir.deallocate"(%t) : (memref<4xf32>) -> ()
    %u = "hir.allocate"() : () -> memref<4xf32>
    "hir.set"(%zero, %u) : (index, memref<4xf32>) -> ()
    "hir.deallocate"(%u) : (memref<4xf32>) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<?xf32>, index) -> ()} : () -> ()

// -----

// The smallest that suffices; not one that would hold memory where the peak is.
// CHECK-LABEL: ^bb0(%{{.*}}: f32):
// CHECK:         %[[BIG:.*]] = "hir.allocate"() {zero_init} : () -> memref<64xf32>
// CHECK:         %[[FIT:.*]] = "hir.allocate"() {zero_init} : () -> memref<16xf32>
// CHECK:         "hir.deallocate"(%[[BIG]])
// CHECK-NEXT:    "hir.reuse"(%[[FIT]])
"hir.program"() ({
^bb0(%x: f32):
  %big = "hir.allocate"() {zero_init} : () -> memref<64xf32>
  %fit = "hir.allocate"() {zero_init} : () -> memref<16xf32>
  "hir.deallocate"(%fit) : (memref<16xf32>) -> ()
  "hir.deallocate"(%big) : (memref<64xf32>) -> ()
  %small = "hir.allocate"() {zero_init} : () -> memref<12xf32>
  "hir.deallocate"(%small) : (memref<12xf32>) -> ()
}) {sym_name = "main", function_type = (f32) -> ()} : () -> ()

// -----

// CHECK-LABEL: ^bb0(%{{.*}}: f64):
// CHECK-NOT:     hir.reuse
"hir.program"() ({
^bb0(%x: f64):
  %big = "hir.allocate"() {zero_init} : () -> memref<64xf32>
  "hir.deallocate"(%big) : (memref<64xf32>) -> ()
  %small = "hir.allocate"() {zero_init} : () -> memref<4xf32>
  %other = "hir.allocate"() {zero_init} : () -> memref<65xf32>
  "hir.deallocate"(%other) : (memref<65xf32>) -> ()
  "hir.deallocate"(%small) : (memref<4xf32>) -> ()
}) {sym_name = "main", function_type = (f64) -> ()} : () -> ()

// -----

// Not of another kind of memory, for an output, what is not known to be as large, what another
// stream frees, or what another stream uses.
// CHECK-LABEL: ^bb0(%{{.*}}: index, %{{.*}}: index):
// CHECK-NOT:     hir.reuse
"hir.program"() ({
^bb0(%n: index, %m: index):
  %a = "hir.allocate"(%n) {zero_init} : (index) -> memref<?xf32>
  "hir.deallocate"(%a) : (memref<?xf32>) -> ()
  %b = "hir.allocate"(%n) {zero_init, memory = "pinned"} : (index) -> memref<?xf32>
  "hir.deallocate"(%b) : (memref<?xf32>) -> ()
  %c = "hir.allocate"(%m) {zero_init} : (index) -> memref<?xf32>
  %y = "hir.allocate"(%n) {zero_init, output = 0 : i64} : (index) -> memref<?xf32>
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %d = "hir.allocate"(%n) : (index) -> memref<?xf32>
  "hir.set_stream"(%side) : (!hir.stream_t) -> ()
  "hir.set"(%c, %d) : (memref<?xf32>, memref<?xf32>) -> ()
  %e = "hir.allocate"(%n) {zero_init} : (index) -> memref<?xf32>
  "hir.deallocate"(%c) : (memref<?xf32>) -> ()
  "hir.deallocate"(%d) : (memref<?xf32>) -> ()
  "hir.deallocate"(%e) : (memref<?xf32>) -> ()
  "hir.output"(%y) : (memref<?xf32>) -> ()
}) {sym_name = "main", function_type = (index, index) -> memref<?xf32>} : () -> ()

// -----

// What a region of linalg loads itself, under an scf.if too, is used where the operation stands.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<8xf32>):
// CHECK:         %[[A:.*]] = "hir.allocate"() : () -> memref<8xf32>
// CHECK:         %[[B:.*]] = "hir.reuse"(%[[A]]) : (memref<8xf32>) -> memref<8xf32>
// CHECK:           memref.load %[[B]]
// CHECK:         "hir.deallocate"(%[[B]])
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4 : index
  %y = "hir.allocate"() {output = 0 : i64} : () -> memref<8xf32>
  %a = "hir.allocate"() : () -> memref<8xf32>
  "hir.unary"(%x, %a) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.deallocate"(%a) : (memref<8xf32>) -> ()
  %b = "hir.allocate"() : () -> memref<8xf32>
  "hir.unary"(%x, %b) {kind = "abs"} : (memref<8xf32>, memref<8xf32>) -> ()
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %is_first = arith.cmpi ult, %i, %four : index
    %e = scf.if %is_first -> f32 {
      %there = memref.load %b[%i] : memref<8xf32>
      scf.yield %there : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %e : f32
  }
  "hir.deallocate"(%b) : (memref<8xf32>) -> ()
  "hir.output"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>) -> memref<8xf32>} : () -> ()

// -----

// It is another stream's work there: neither is what it reads taken, nor does it take what is freed
// on this one.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<8xi32>):
// CHECK-NOT:     hir.reuse
"hir.program"() ({
^bb0(%x: memref<8xi32>):
  %y = "hir.allocate"() {output = 0 : i64} : () -> memref<8xi32>
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %a = "hir.allocate"() {zero_init} : () -> memref<8xi32>
  "hir.deallocate"(%a) : (memref<8xi32>) -> ()
  %b = "hir.allocate"() {zero_init} : () -> memref<8xi32>
  "hir.wait_stream"(%side, %here) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.set_stream"(%side) : (!hir.stream_t) -> ()
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<8xi32>) {
  ^bb0(%old: i32):
    %i = linalg.index 0 : index
    %e = memref.load %b[%i] : memref<8xi32>
    linalg.yield %e : i32
  }
  "hir.set_stream"(%here) : (!hir.stream_t) -> ()
  "hir.wait_stream"(%here, %side) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.deallocate"(%b) : (memref<8xi32>) -> ()
  "hir.output"(%y) : (memref<8xi32>) -> ()
}) {sym_name = "main", function_type = (memref<8xi32>) -> memref<8xi32>} : () -> ()

// -----

// Memory that a team shares is neither taken nor takes another's, symmetric or not: all of the team
// find it where it is.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<5xf32>):
// CHECK-NOT: hir.reuse
"hir.program"() ({
^bb0(%x: memref<5xf32>):
  %a = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1>} : () -> memref<5xf32>
  "hir.unary"(%x, %a) {kind = "neg"} : (memref<5xf32>, memref<5xf32>) -> ()
  "hir.deallocate"(%a) : (memref<5xf32>) -> ()
  %b = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1>} : () -> memref<5xf32>
  "hir.unary"(%x, %b) {kind = "neg"} : (memref<5xf32>, memref<5xf32>) -> ()
  "hir.deallocate"(%b) : (memref<5xf32>) -> ()
  %c = "hir.allocate"() {memory = "symmetric"} : () -> memref<5xf32>
  "hir.unary"(%x, %c) {kind = "neg"} : (memref<5xf32>, memref<5xf32>) -> ()
  "hir.deallocate"(%c) : (memref<5xf32>) -> ()
  %d = "hir.allocate"() {memory = "symmetric", team = array<i64: 0, 1>} : () -> memref<5xf32>
  "hir.unary"(%x, %d) {kind = "neg"} : (memref<5xf32>, memref<5xf32>) -> ()
  "hir.deallocate"(%d) : (memref<5xf32>) -> ()
}) {sym_name = "main", function_type = (memref<5xf32>) -> ()} : () -> ()

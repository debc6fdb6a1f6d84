// RUN: hirc-opt %s --hir-insert-deallocations --split-input-file | FileCheck %s

// Right after the last use, also through a view; never an output, an input, or what is freed already.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<8xf32>):
// CHECK:         %[[A:.*]] = "hir.allocate"() : () -> memref<8xf32>
// CHECK:         "hir.unary"(%{{.*}}, %[[A]])
// CHECK-NEXT:    %[[V:.*]] = "hir.reshape"(%[[A]])
// CHECK-NEXT:    "hir.unary"(%[[V]], %{{.*}})
// CHECK-NEXT:    "hir.deallocate"(%[[A]])
// CHECK:         "hir.deallocate"(%[[B:.*]]) : (memref<4xf32>)
// CHECK-NOT:     hir.deallocate
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %y = "hir.allocate"() {output = 0 : i64} : () -> memref<2x4xf32>
  %a = "hir.allocate"() : () -> memref<8xf32>
  "hir.unary"(%x, %a) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  %v = "hir.reshape"(%a) : (memref<8xf32>) -> memref<2x4xf32>
  "hir.unary"(%v, %y) {kind = "neg"} : (memref<2x4xf32>, memref<2x4xf32>) -> ()
  %b = "hir.allocate"() : () -> memref<4xf32>
  %flat = "hir.reshape"(%y) : (memref<2x4xf32>) -> memref<8xf32>
  "hir.deallocate"(%b) : (memref<4xf32>) -> ()
  "hir.output"(%flat) : (memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>) -> memref<8xf32>} : () -> ()

// -----

// What is made before a loop is freed after it, what is made in it in it; what one branch uses
// after the hir.if; what branches give after its last use, even if nothing takes it.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<8xf32>, %{{.*}}: i1, %{{.*}}: index):
// CHECK:         %[[A:.*]] = "hir.allocate"
// CHECK:         hir.for
// CHECK:           %[[B:.*]] = "hir.allocate"
// CHECK:           "hir.unary"(%[[A]], %[[B]])
// CHECK-NEXT:      "hir.deallocate"(%[[B]])
// CHECK-NEXT:    }) : (index, index, index) -> ()
// CHECK-NEXT:    "hir.deallocate"(%[[A]])
// CHECK:         %[[C:.*]] = "hir.allocate"
// CHECK:         %[[R:.*]] = "hir.if"
// CHECK-NOT:       hir.deallocate
// CHECK:         }) : (i1) -> !hir.results_t
// CHECK-NEXT:    %[[Y:.*]] = "hir.result"(%[[R]]) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
// CHECK-NEXT:    "hir.deallocate"(%[[Y]])
// CHECK-NEXT:    "hir.deallocate"(%[[C]])
"hir.program"() ({
^bb0(%x: memref<8xf32>, %c: i1, %n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = "hir.allocate"() : () -> memref<8xf32>
  "hir.unary"(%x, %a) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    %b = "hir.allocate"() : () -> memref<8xf32>
    "hir.unary"(%a, %b) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  }) : (index, index, index) -> ()
  %k = "hir.allocate"() : () -> memref<8xf32>
  "hir.unary"(%x, %k) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  %r = "hir.if"(%c) ({
    %then = "hir.allocate"() : () -> memref<8xf32>
    "hir.unary"(%k, %then) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
    "hir.output"(%then) : (memref<8xf32>) -> ()
  }, {
    %else = "hir.allocate"() {zero_init} : () -> memref<8xf32>
    "hir.output"(%else) : (memref<8xf32>) -> ()
  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8xf32>, i1, index) -> ()} : () -> ()

// -----

// A value of a call is the caller's; one that is an input of the callee is not.
// CHECK-LABEL: ^bb0(%{{.*}}: memref<8xf32>):
// CHECK:         %[[R:.*]] = "hir.call"
// CHECK:         %[[Y:.*]] = "hir.result"(%[[R]]) {index = 1 : i64}
// CHECK-NEXT:    "hir.deallocate"(%[[Y]])
// CHECK-NOT:     hir.deallocate
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %results = "hir.call"() ({
    "hir.argument"(%x) : (memref<8xf32>) -> ()
  }) {callee = @callee} : () -> !hir.results_t
  %same = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %y = "hir.allocate"() {output = 1 : i64} : () -> memref<8xf32>
  "hir.unary"(%x, %y) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.output"(%x) {name = "x"} : (memref<8xf32>) -> ()
  "hir.output"(%y) {name = "y"} : (memref<8xf32>) -> ()
}) {sym_name = "callee", function_type = (memref<8xf32>) -> (memref<8xf32>, memref<8xf32>)} : () -> ()

// -----

// The current stream waits for another that uses the buffer, unless it has done so.
// CHECK:         "hir.unary"(%{{.*}}, %[[A:.*]]) {kind = "exp"}
// CHECK-NEXT:    "hir.set_stream"
// CHECK-NEXT:    "hir.unary"(%[[B:.*]], %[[B]]) {kind = "log"}
// CHECK:         "hir.unary"(%[[A]], %[[A]]) {kind = "abs"}
// CHECK-NEXT:    %[[HERE:.*]] = "hir.current_stream"
// CHECK-NEXT:    %[[SIDE:.*]] = "hir.stream"() {name = "side"}
// CHECK-NEXT:    "hir.wait_stream"(%[[HERE]], %[[SIDE]])
// CHECK-NEXT:    "hir.deallocate"(%[[A]])
// CHECK-NEXT:    "hir.wait_stream"
// CHECK-NEXT:    "hir.unary"(%[[B]], %[[B]]) {kind = "neg"}
// CHECK-NEXT:    "hir.deallocate"(%[[B]])
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  "hir.set_stream"(%side) : (!hir.stream_t) -> ()
  %a = "hir.allocate"() : () -> memref<8xf32>
  %b = "hir.allocate"() {zero_init} : () -> memref<8xf32>
  "hir.unary"(%b, %b) {kind = "log"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.unary"(%x, %a) {kind = "exp"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.set_stream"(%here) : (!hir.stream_t) -> ()
  "hir.unary"(%b, %b) {kind = "log"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.unary"(%a, %a) {kind = "abs"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.wait_stream"(%here, %side) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.unary"(%b, %b) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

// A loop with streams is waited for at its end. One that takes streams of a pool itself is not.
// CHECK:         }) {streams = 2 : i64}
// CHECK-NEXT:    "hir.deallocate"(%[[A:.*]])
// CHECK:         "hir.for"
// CHECK:         })
// CHECK-NEXT:    %[[HERE:.*]] = "hir.current_stream"
// CHECK:         "hir.for"(%{{.*}}, %c4{{.*}}, %{{.*}}) ({
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index):
// CHECK-NEXT:      %[[EACH:.*]] = "hir.stream"(%[[I]]) {pool = 4 : i64}
// CHECK-NEXT:      "hir.wait_stream"(%[[HERE]], %[[EACH]])
// CHECK-NEXT:    })
// CHECK-NEXT:    "hir.deallocate"(%[[B:.*]])
"hir.program"() ({
^bb0(%x: memref<8xf32>, %n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = "hir.allocate"() {zero_init} : () -> memref<8xf32>
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    "hir.unary"(%a, %x) {kind = "abs"} : (memref<8xf32>, memref<8xf32>) -> ()
  }) {streams = 2 : i64} : (index, index, index) -> ()
  %b = "hir.allocate"() {zero_init} : () -> memref<8xf32>
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    %mine = "hir.stream"(%i) {pool = 4 : i64} : (index) -> !hir.stream_t
    "hir.set_stream"(%mine) : (!hir.stream_t) -> ()
    "hir.unary"(%b, %x) {kind = "abs"} : (memref<8xf32>, memref<8xf32>) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>, index) -> ()} : () -> ()

// -----

// A region of linalg that loads from the buffer itself uses it in its operation's stream.
// CHECK:         linalg.generic
// CHECK:           memref.load %[[A:.*]][
// CHECK:         }) : (i1) -> !hir.results_t
// CHECK-NEXT:    %[[HERE:.*]] = "hir.current_stream"
// CHECK-NEXT:    %[[SIDE:.*]] = "hir.stream"() {name = "side"}
// CHECK-NEXT:    "hir.wait_stream"(%[[HERE]], %[[SIDE]])
// CHECK-NEXT:    "hir.deallocate"(%[[A]])
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  %a = "hir.allocate"() {zero_init} : () -> memref<8xf32>
  %run = arith.constant true
  %none = "hir.if"(%run) ({
    "hir.set_stream"(%side) : (!hir.stream_t) -> ()
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<8xf32>) {
    ^bb0(%old: f32):
      %i = linalg.index 0 : index
      %e = memref.load %a[%i] : memref<8xf32>
      linalg.yield %e : f32
    }
    "hir.set_stream"(%here) : (!hir.stream_t) -> ()
  }, {
  ^bb0:
  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

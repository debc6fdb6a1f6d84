// RUN: hirc-opt %s --split-input-file --hir-divide-over-mesh | FileCheck %s

// Columns, then rows: one reduce-scatter, and the bias is added once, to the sum.
// CHECK-LABEL: "hir.program"
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x16xf32>, %[[W1:.*]]: memref<16x16xf32>, %[[W2:.*]]: memref<16x16xf32>, %[[BIAS:.*]]: memref<16xf32>)
// CHECK-NEXT: %[[H:.*]] = "hir.linear"(%[[X]], %[[W1]]) {{.*}} -> memref<8x16xf32>
// CHECK-NEXT: %[[G:.*]] = "hir.unary"(%[[H]]) {kind = "gelu"}
// CHECK-NEXT: %[[PARTS:.*]] = "hir.linear"(%[[G]], %[[W2]]) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
// CHECK-NEXT: %[[SUM:.*]] = "hir.reshard"(%[[PARTS]]) {from = ["partial:sum"], {{.*}}to = ["axis:0"]{{.*}} -> memref<4x16xf32>
// CHECK-NEXT: %[[Y:.*]] = "hir.binary"(%[[SUM]], %[[BIAS]]) {kind = "add"}
// CHECK-NEXT: "hir.output"(%[[Y]])
// CHECK-NOT: mesh =
"hir.program"() ({
^bb0(%x: memref<8x16xf32>, %w1: memref<32x16xf32>, %w2: memref<16x32xf32>, %bias: memref<16xf32>):
  %h = "hir.linear"(%x, %w1) {operandSegmentSizes = array<i32: 1, 1, 0, 0>}
    : (memref<8x16xf32>, memref<32x16xf32>) -> memref<8x32xf32>
  %g = "hir.unary"(%h) {kind = "gelu"} : (memref<8x32xf32>) -> memref<8x32xf32>
  %y = "hir.linear"(%g, %w2, %bias) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
    : (memref<8x32xf32>, memref<16x32xf32>, memref<16xf32>) -> memref<8x16xf32>
  "hir.output"(%y) {spread = ["axis:0"]} : (memref<8x16xf32>) -> ()
}) {sym_name = "main", mesh = array<i64: 2>, inputs = [{name = "x"}, {name = "w1", spread = ["axis:0"]},
    {name = "w2", spread = ["axis:1"]}, {name = "bias"}],
    function_type = (memref<8x16xf32>, memref<32x16xf32>, memref<16x32xf32>, memref<16xf32>)
      -> memref<8x16xf32>} : () -> ()

// -----

// The greatest of floats is not combined by devices, for nan's sake; of integers it is. What a
// size is in the program is the whole's.
// CHECK-LABEL: "hir.program"
// CHECK: %[[DIM:.*]] = memref.dim
// CHECK: %[[WHOLE:.*]] = arith.muli %[[DIM]], %{{.*}}
// CHECK: "hir.reshard"(%{{.*}}) {from = ["axis:0"], {{.*}}to = ["whole"]
// CHECK: "hir.reduce"(%{{.*}}) {axes = array<i64: 0>, kind = "max"} : (memref<?xf32>) -> memref<f32>
// CHECK: %[[PART:.*]] = "hir.reduce"(%{{.*}}) {axes = array<i64: 0>, kind = "max"} : (memref<?xi32>) -> memref<i32>
// CHECK: "hir.reshard"(%[[PART]]) {from = ["partial:max"], {{.*}}to = ["whole"]
// CHECK: "hir.output"(%[[WHOLE]])
// CHECK: inputs = [{name = "x", sizes = ["n/2"]}, {name = "i", sizes = ["n/2"]}]
"hir.program"() ({
^bb0(%x: memref<?xf32>, %i: memref<?xi32>):
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %a = "hir.reduce"(%x) {kind = "max", axes = array<i64: 0>} : (memref<?xf32>) -> memref<f32>
  %b = "hir.reduce"(%i) {kind = "max", axes = array<i64: 0>} : (memref<?xi32>) -> memref<i32>
  "hir.output"(%a) : (memref<f32>) -> ()
  "hir.output"(%b) : (memref<i32>) -> ()
  "hir.output"(%n) : (index) -> ()
}) {sym_name = "main", mesh = array<i64: 2>, inputs = [{name = "x", sizes = ["n"], spread = ["axis:0"]},
    {name = "i", sizes = ["n"], spread = ["axis:0"]}],
    function_type = (memref<?xf32>, memref<?xi32>) -> (memref<f32>, memref<i32>, index)} : () -> ()

// -----

// What is written in place is whole; what takes buffers without being divided takes whole ones.
// CHECK-LABEL: "hir.program"
// CHECK: %[[Y:.*]] = "hir.allocate"() : () -> memref<8xf32>
// CHECK: %[[X:.*]] = "hir.reshard"(%{{.*}}) {from = ["axis:0"], {{.*}}to = ["whole"]
// CHECK: "hir.unary"(%[[X]], %[[Y]]) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK: "hir.host_call"
// CHECK: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %y = "hir.allocate"() : () -> memref<8xf32>
  "hir.unary"(%x, %y) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", mesh = array<i64: 2>, inputs = [{name = "x", spread = ["axis:0"]}],
    function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

// Devices that need nothing of one another are several all the same.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4xf32>):
// CHECK-NEXT: "hir.communicator"() {teams = [array<i64: 0>, array<i64: 1>]}
// CHECK-NEXT: "hir.unary"(%[[X]])
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.output"(%y) {spread = ["axis:0"]} : (memref<8xf32>) -> ()
}) {sym_name = "main", mesh = array<i64: 2>, inputs = [{name = "x", spread = ["axis:0"]}],
    function_type = (memref<8xf32>) -> memref<8xf32>} : () -> ()

// -----

// A weight that devices have parts of is the part; one that every device has all of is divided there.
// CHECK: ^bb0(%[[W:.*]]: memref<2x8xf32>, %[[V:.*]]: memref<4x8xf32>, %[[X:.*]]: memref<4x8xf32>):
// CHECK: %[[PART:.*]] = "hir.reshard"(%[[V]]) {from = ["whole"]{{.*}}to = ["axis:1"]{{.*}} -> memref<4x4xf32>
// CHECK: "hir.binary"(%{{.*}}, %[[W]])
// CHECK: "hir.binary"(%{{.*}}, %[[PART]])
module attributes {hirc.weights = {bytes = 256 : i64, file = "",
    header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[0,128]},\"v\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[128,256]}}",
    parts = "{\"cuts\": {\"w\": [[2, 0]]}, \"places\": {\"w\": 0, \"v\": 256}, \"bytes\": 512}"}} {
  "hir.program"() ({
  ^bb0(%w: memref<4x8xf32>, %v: memref<4x8xf32>, %x: memref<4x8xf32>):
    %y = "hir.binary"(%x, %w) {kind = "add"} : (memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32>
    %z = "hir.binary"(%x, %v) {kind = "add"} : (memref<4x8xf32>, memref<4x8xf32>) -> memref<4x8xf32>
    "hir.output"(%y) {name = "y", spread = ["axis:0"]} : (memref<4x8xf32>) -> ()
    "hir.output"(%z) {name = "z", spread = ["axis:1"]} : (memref<4x8xf32>) -> ()
  }) {sym_name = "main", mesh = array<i64: 2>,
      inputs = [{weight = "w", spread = ["axis:0"]}, {weight = "v", spread = ["axis:1"]}, {name = "x"}],
      function_type = (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>)
          -> (memref<4x8xf32>, memref<4x8xf32>)} : () -> ()
}

// -----

// Of seven rows the first of three devices have three each, the last one has one: it fills them up,
// as all communicate and compute as many, and gives its own.

// CHECK:       "hir.program"
// CHECK:       ^bb0(%[[X:.*]]: memref<?x4xf32>, %{{.*}}: memref<?xi32>):
// CHECK:         cf.assert %{{.*}}, "input 'x': of the 7 elements of dim 0 the first of 3 devices have 3 each, the next what is left; this one is given another number"
// CHECK:         %[[FILLED:.*]] = "hir.allocate"() : () -> memref<3x4xf32>
// CHECK:         "hir.set"(%{{.*}}, %[[FILLED]]) : (f32, memref<3x4xf32>) -> ()
// CHECK:         %[[OWN:.*]] = "hir.slice"(%[[FILLED]]
// CHECK:         "hir.set"(%[[X]], %[[OWN]])
// CHECK:         %[[Y:.*]] = "hir.unary"(%[[FILLED]]) {kind = "exp"} : (memref<3x4xf32>) -> memref<3x4xf32>
// What fills parts up is no term of a sum.
// CHECK:         %[[ALL:.*]] = "hir.reshard"(%[[Y]]) {{.*}} to = ["whole"]{{.*}} -> memref<9x4xf32>
// CHECK:         %[[WHOLE:.*]] = "hir.slice"(%[[ALL]]{{.*}} -> memref<7x4xf32>
// CHECK:         "hir.reduce"(%[[WHOLE]]) {{.*}} -> memref<4xf32>
// A divisor that fills a part up is none either.
// CHECK:         "hir.binary"{{.*}} {kind = "div"} : (memref<7xi32>, memref<7xi32>) -> memref<7xi32>
// CHECK:         "hir.output"{{.*}} {name = "y"} : (memref<?x4xf32>) -> ()
"hir.program"() ({
^bb0(%x: memref<7x4xf32>, %n: memref<7xi32>):
  %y = "hir.unary"(%x) {kind = "exp"} : (memref<7x4xf32>) -> memref<7x4xf32>
  %s = "hir.reduce"(%y) {kind = "sum", axes = array<i64: 0>} : (memref<7x4xf32>) -> memref<4xf32>
  %q = "hir.binary"(%n, %n) {kind = "div"} : (memref<7xi32>, memref<7xi32>) -> memref<7xi32>
  "hir.output"(%y) {name = "y", spread = ["axis:0"]} : (memref<7x4xf32>) -> ()
  "hir.output"(%s) {name = "s"} : (memref<4xf32>) -> ()
  "hir.output"(%q) {name = "q"} : (memref<7xi32>) -> ()
}) {mesh = array<i64: 3>, sym_name = "uneven",
    inputs = [{name = "x", spread = ["axis:0"]}, {name = "n", spread = ["axis:0"]}],
    function_type = (memref<7x4xf32>, memref<7xi32>) -> (memref<7x4xf32>, memref<4xf32>, memref<7xi32>)} : () -> ()

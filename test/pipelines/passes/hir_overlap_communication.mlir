// RUN: hirc-opt %s --split-input-file --pass-pipeline='builtin.module(hir-overlap-communication{steps=4})' | FileCheck %s

// What two products take arrives in steps. Each step has a stream and a buffer of its own.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4x8xf32>, %[[W:.*]]: memref<6x8xf32>, %[[V:.*]]: memref<8x5xf32>, %[[BIAS:.*]]: memref<6xf32>):
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"
// CHECK-NEXT: %[[XS:.*]] = "hir.reshape"(%[[X]]) : (memref<4x8xf32>) -> memref<4x1x8xf32>
// CHECK-NEXT: %[[ALL:.*]] = "hir.allocate"() : () -> memref<4x2x1x8xf32>
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() {output = 0 : i64} : () -> memref<8x6xf32, strided<[?, ?], offset: ?>>
// CHECK-NEXT: %[[YS:.*]] = "hir.reshape"(%[[Y]]) : {{.*}} -> memref<2x4x1x6xf32
// CHECK-NEXT: %[[Z:.*]] = "hir.allocate"() {output = 1 : i64} : () -> memref<8x5xf32
// CHECK-NEXT: %[[ZS:.*]] = "hir.reshape"(%[[Z]])
// CHECK: "hir.for"({{.*}}) ({
// CHECK-NEXT: ^bb0(%[[STEP:.*]]: index):
// CHECK-NEXT: %[[PART:.*]] = "hir.select"(%[[XS]], %[[STEP]]) {axis = 0 : i64} : {{.*}} -> memref<1x8xf32
// CHECK-NEXT: %[[ROWS:.*]] = "hir.select"(%[[ALL]], %[[STEP]]) {axis = 0 : i64} : {{.*}} -> memref<2x1x8xf32
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[PART]], %[[ROWS]], %[[TEAM]]) {kind = "allgather"}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %[[OUT:.*]] = "hir.select"(%[[YS]], %[[STEP]]) {axis = 1 : i64}
// CHECK-NEXT: "hir.linear"(%[[ROWS]], %[[W]], %[[BIAS]], %[[OUT]]) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
// CHECK-NEXT: %[[SECOND:.*]] = "hir.select"(%[[ZS]], %[[STEP]]) {axis = 1 : i64}
// CHECK-NEXT: "hir.matmul"(%[[ROWS]], %[[V]], %[[SECOND]])
// CHECK-NEXT: }) {overlap = "allgather, 4 steps: about {{[0-9]+}} us, in one {{[0-9]+}} us", streams = 4 : i64}
// CHECK-NEXT: "hir.output"(%[[Y]])
// CHECK-NEXT: "hir.output"(%[[Z]])
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %w: memref<6x8xf32>, %v: memref<8x5xf32>, %bias: memref<6xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<8x8xf32>
  %r = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %y = "hir.linear"(%all, %w, %bias) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
    : (memref<8x8xf32>, memref<6x8xf32>, memref<6xf32>) -> memref<8x6xf32>
  %z = "hir.matmul"(%all, %v) : (memref<8x8xf32>, memref<8x5xf32>) -> memref<8x5xf32>
  "hir.output"(%y) : (memref<8x6xf32>) -> ()
  "hir.output"(%z) : (memref<8x5xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<6x8xf32>, memref<8x5xf32>, memref<6xf32>) -> (memref<8x6xf32>, memref<8x5xf32>)} : () -> ()

// -----

// What a product gives leaves in steps. Of 6 rows a device, three are the most that divide evenly.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<2x6x8xf16>, %[[W:.*]]: memref<8x4xf16>):
// CHECK: %[[TO:.*]] = "hir.allocate"() : () -> memref<6x4xf32>
// CHECK: %[[XS:.*]] = "hir.reshape"(%[[X]]) : (memref<2x6x8xf16>) -> memref<2x3x2x8xf16>
// CHECK: %[[MADE:.*]] = "hir.allocate"() : () -> memref<3x2x2x4xf32>
// CHECK: %[[TOS:.*]] = "hir.reshape"(%[[TO]]) : (memref<6x4xf32>) -> memref<3x2x4xf32>
// CHECK: "hir.for"({{.*}}) ({
// CHECK-NEXT: ^bb0(%[[STEP:.*]]: index):
// CHECK-NEXT: %[[ROWS:.*]] = "hir.select"(%[[XS]], %[[STEP]]) {axis = 1 : i64} : {{.*}} -> memref<2x2x8xf16
// CHECK-NEXT: %[[PART:.*]] = "hir.select"(%[[MADE]], %[[STEP]]) {axis = 0 : i64} : {{.*}} -> memref<2x2x4xf32
// CHECK-NEXT: "hir.matmul"(%[[ROWS]], %[[W]], %[[PART]])
// CHECK-NEXT: %[[OUT:.*]] = "hir.select"(%[[TOS]], %[[STEP]]) {axis = 0 : i64} : {{.*}} -> memref<2x4xf32
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[PART]], %[[OUT]], %{{.*}}) {kind = "reduce-scatter", reduction = "sum"}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: }) {overlap = "reduce-scatter, 3 steps: {{.*}}", streams = 3 : i64}
"hir.program"() ({
^bb0(%x: memref<2x6x8xf16>, %w: memref<8x4xf16>):
  %team = "hir.communicator"() {teams = [array<i64: 0, 1>, array<i64: 2, 3>]} : () -> !hir.communicator_t
  %y = "hir.matmul"(%x, %w) : (memref<2x6x8xf16>, memref<8x4xf16>) -> memref<2x6x4xf32>
  %to = "hir.allocate"() : () -> memref<6x4xf32>
  %r = "hir.communicate"(%y, %to, %team) {kind = "reduce-scatter", reduction = "sum"}
    : (memref<2x6x4xf32>, memref<6x4xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.output"(%to) : (memref<6x4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<2x6x8xf16>, memref<8x4xf16>) -> memref<6x4xf32>} : () -> ()

// -----

// The shares of a sum, combined on all devices; the product says in how many steps.
// CHECK-LABEL: "hir.program"() ({
// CHECK: "hir.for"
// CHECK: "hir.linear"({{.*}}) {operandSegmentSizes = array<i32: 1, 1, 0, 1>} : (memref<4x8xf32, {{.*}}>, memref<6x8xf32>, memref<4x6xf32, {{.*}}>) -> ()
// CHECK: "hir.communicate"({{.*}}) {kind = "allreduce", reduction = "sum"} : (memref<4x6xf32, {{.*}}>, memref<4x6xf32, {{.*}}>
// CHECK: streams = 2 : i64
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %w: memref<6x8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1, 2>} : () -> !hir.communicator_t
  %y = "hir.linear"(%x, %w) {operandSegmentSizes = array<i32: 1, 1, 0, 0>, overlap_steps = 2 : i64}
    : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
  %to = "hir.allocate"() : () -> memref<8x6xf32>
  %r = "hir.communicate"(%y, %to, %team) {kind = "allreduce", reduction = "sum"}
    : (memref<8x6xf32>, memref<8x6xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  "hir.output"(%to) : (memref<8x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>} : () -> ()

// -----

// Experts: what all devices have for a device's own. A step's rows of each are packed before they
// are sent, and spread where they came.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<2x3x4x8xf32>, %[[W:.*]]: memref<3x8x6xf32>):
// CHECK: %[[XS:.*]] = "hir.reshape"(%{{.*}}) : (memref<{{.*}}xf32>) -> memref<2x3x4x1x8xf32>
// CHECK: %[[PACKED:.*]] = "hir.allocate"() : () -> memref<4x2x3x1x8xf32>
// CHECK: "hir.for"
// CHECK-NEXT: ^bb0(%[[STEP:.*]]: index):
// CHECK-NEXT: %[[ROWS:.*]] = "hir.select"(%[[XS]], %[[STEP]]) {axis = 2 : i64}
// CHECK-NEXT: %[[PART:.*]] = "hir.select"(%[[PACKED]], %[[STEP]]) {axis = 0 : i64}
// CHECK-NEXT: "hir.set"(%[[ROWS]], %[[PART]])
// CHECK-NEXT: %[[HERE:.*]] = "hir.select"
// CHECK-NEXT: "hir.communicate"(%[[PART]], %[[HERE]], {{.*}}) {kind = "all-to-all"} : (memref<2x3x1x8xf32
// CHECK-NEXT: "hir.wait"
// CHECK-NEXT: %[[OUT:.*]] = "hir.select"
// CHECK-NEXT: "hir.matmul"(%[[HERE]], %[[W]], %[[OUT]])
// CHECK: "hir.for"
// CHECK: "hir.matmul"
// CHECK: "hir.communicate"(%{{.*}}, %[[CAME:.*]], %{{.*}}) {kind = "all-to-all"}
// CHECK-NEXT: "hir.wait"
// CHECK-NEXT: "hir.set"(%[[CAME]], %{{.*}})
"hir.program"() ({
^bb0(%x: memref<2x3x4x8xf32>, %w: memref<3x8x6xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %own = "hir.allocate"() : () -> memref<2x3x4x8xf32>
  %r = "hir.communicate"(%x, %own, %team) {kind = "all-to-all"}
    : (memref<2x3x4x8xf32>, memref<2x3x4x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%r) : (!hir.request_t) -> ()
  %h = "hir.matmul"(%own, %w) : (memref<2x3x4x8xf32>, memref<3x8x6xf32>) -> memref<2x3x4x6xf32>
  %turned = "hir.permute"(%w) {order = array<i64: 0, 2, 1>} : (memref<3x8x6xf32>) -> memref<3x6x8xf32, strided<[48, 1, 6]>>
  %y = "hir.matmul"(%h, %turned) : (memref<2x3x4x6xf32>, memref<3x6x8xf32, strided<[48, 1, 6]>>) -> memref<2x3x4x8xf32>
  %back = "hir.allocate"() : () -> memref<2x3x4x8xf32>
  %s = "hir.communicate"(%y, %back, %team) {kind = "all-to-all"}
    : (memref<2x3x4x8xf32>, memref<2x3x4x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%s) : (!hir.request_t) -> ()
  "hir.output"(%back) : (memref<2x3x4x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<2x3x4x8xf32>, memref<3x8x6xf32>) -> memref<2x3x4x8xf32>} : () -> ()

// -----

// Sums of products of linalg, as functions on tensors leave them, with what is done to the sums:
// two take the rows that arrive, whatever views are taken between, and one gives those that leave.
// CHECK-LABEL: "hir.program"
// CHECK: "hir.for"
// CHECK: %[[PART:.*]] = "hir.select"(%{{.*}}) {axis = 0 : i64} : {{.*}} -> memref<2x1x8xf32
// CHECK: "hir.communicate"(%{{.*}}, %[[PART]], %{{.*}}) {kind = "allgather"}
// CHECK: linalg.generic {{.*}} ins(%[[PART]], %{{.*}}, %{{.*}} : memref<2x1x8xf32, {{.*}} outs(%{{.*}} : memref<2x1x6xf32
// CHECK: "hir.reduce_loops"(%{{.*}}) {kind = "addf", loops = array<i64: 3>}
// CHECK: linalg.generic {{.*}} ins(%[[PART]], %{{.*}} : memref<2x1x8xf32
// CHECK: overlap = "allgather, 2 steps
// CHECK: "hir.for"
// CHECK: linalg.generic
// CHECK: "hir.communicate"(%{{.*}}) {kind = "reduce-scatter", reduction = "sum"}
// CHECK: overlap = "reduce-scatter, 2 steps
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#b = affine_map<(m, n, k) -> (n)>
#y = affine_map<(m, n, k) -> (m, n)>
"hir.program"() ({
^bb0(%x: memref<2x8xf32>, %w: memref<6x8xf32>, %b: memref<6xf32>, %v: memref<8x6xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<4x8xf32>
  %request = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<2x8xf32>, memref<4x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%request) : (!hir.request_t) -> ()
  %one = "hir.allocate"() : () -> memref<4x6xf32>
  linalg.generic {indexing_maps = [#x, #w, #b, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%all, %w, %b : memref<4x8xf32>, memref<6x8xf32>, memref<6xf32>) outs(%one : memref<4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %t = arith.addf %s, %d : f32
    linalg.yield %t : f32
  }
  %rows = memref.expand_shape %one [[0, 1], [2]] output_shape [2, 2, 6] : memref<4x6xf32> into memref<2x2x6xf32>
  %two = "hir.allocate"() : () -> memref<4x6xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%all, %w : memref<4x8xf32>, memref<6x8xf32>) outs(%two : memref<4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
  %share = "hir.allocate"() : () -> memref<4x8xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%two, %v : memref<4x6xf32>, memref<8x6xf32>) outs(%share : memref<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
  %part = "hir.allocate"() : () -> memref<2x8xf32>
  %sent = "hir.communicate"(%share, %part, %team) {kind = "reduce-scatter", reduction = "sum"}
    : (memref<4x8xf32>, memref<2x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%sent) : (!hir.request_t) -> ()
  "hir.output"(%rows) : (memref<2x2x6xf32>) -> ()
  "hir.output"(%part) : (memref<2x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<2x8xf32>, memref<6x8xf32>, memref<6xf32>, memref<8x6xf32>)
    -> (memref<2x2x6xf32>, memref<2x8xf32>)} : () -> ()

// -----

// What else goes along the rows, a count of them, and a write to a factor in between keep the
// program as it is.
// CHECK-LABEL: "hir.program"
// CHECK-NOT: "hir.for"
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#i = affine_map<(i, j) -> (i, j)>
"hir.program"() ({
^bb0(%x: memref<2x8xf32>, %w: memref<6x8xf32>, %r: memref<4x6xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %all = "hir.allocate"() : () -> memref<4x8xf32>
  %request = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
    : (memref<2x8xf32>, memref<4x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%request) : (!hir.request_t) -> ()
  %one = "hir.allocate"() : () -> memref<4x6xf32>
  linalg.generic {indexing_maps = [#x, #w, #y, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%all, %w, %r : memref<4x8xf32>, memref<6x8xf32>, memref<4x6xf32>) outs(%one : memref<4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %t = arith.addf %s, %d : f32
    linalg.yield %t : f32
  }
  %other = "hir.allocate"() : () -> memref<4x8xf32>
  %second = "hir.communicate"(%x, %other, %team) {kind = "allgather"}
    : (memref<2x8xf32>, memref<4x8xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%second) : (!hir.request_t) -> ()
  %two = "hir.allocate"() : () -> memref<4x6xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%other, %w : memref<4x8xf32>, memref<6x8xf32>) outs(%two : memref<4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %m = linalg.index 0 : index
    %n = arith.index_cast %m : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %a, %c : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %t = arith.addf %s, %f : f32
    linalg.yield %t : f32
  }
  %other8 = "hir.allocate"() : () -> memref<4x8xf32>
  "hir.set"(%all, %other8) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
  %third = "hir.allocate"() : () -> memref<4x6xf32>
  %factor = "hir.allocate"() : () -> memref<6x8xf32>
  "hir.set"(%w, %factor) : (memref<6x8xf32>, memref<6x8xf32>) -> ()
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%other8, %factor : memref<4x8xf32>, memref<6x8xf32>) outs(%third : memref<4x6xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}
      ins(%w : memref<6x8xf32>) outs(%factor : memref<6x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %sum = "hir.allocate"() : () -> memref<4x6xf32>
  %combined = "hir.communicate"(%third, %sum, %team) {kind = "allreduce", reduction = "sum"}
    : (memref<4x6xf32>, memref<4x6xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%combined) : (!hir.request_t) -> ()
  "hir.output"(%two) : (memref<4x6xf32>) -> ()
  "hir.output"(%sum) : (memref<4x6xf32>) -> ()
}) {sym_name = "main", function_type = (memref<2x8xf32>, memref<6x8xf32>, memref<4x6xf32>)
    -> (memref<4x6xf32>, memref<4x6xf32>)} : () -> ()

// RUN: hirc %s --offload-arch=sm_90 --stop-after=tensor-functions -o - | FileCheck %s

// A program over a mesh is divided before its operations are fused, and after its aliases became
// destinations: what is written to the memory of another buffer is whole on every device.

// CHECK-LABEL: func.func @divided_tensors(
// CHECK-SAME:    %{{.*}}: tensor<4x4xf32>
// CHECK:         math.exp
// CHECK:         arith.negf

// CHECK:       "hir.program"
// CHECK:       ^bb0(%{{.*}}: memref<4x4xf32>):
// CHECK:         "hir.call"
// CHECK:         sym_name = "divided"
"hir.program"() ({
^bb0(%x: memref<8x4xf32>):
  %y = "hir.unary"(%x) {kind = "exp"} : (memref<8x4xf32>) -> memref<8x4xf32>
  %z = "hir.unary"(%y) {kind = "neg"} : (memref<8x4xf32>) -> memref<8x4xf32>
  "hir.output"(%z) {name = "z", spread = ["axis:0"]} : (memref<8x4xf32>) -> ()
}) {mesh = array<i64: 2>, sym_name = "divided", inputs = [{name = "x", spread = ["axis:0"]}],
    function_type = (memref<8x4xf32>) -> memref<8x4xf32>} : () -> ()

// CHECK:       "hir.program"
// CHECK:         %[[T:.*]] = "hir.allocate"() : () -> memref<8x4xf32>
// CHECK:         "hir.unary"(%{{.*}}, %[[T]]) {kind = "exp"} : (memref<8x4xf32>, memref<8x4xf32>) -> ()
// CHECK-NOT:     hir.alias
// CHECK:         sym_name = "aliased"
"hir.program"() ({
^bb0(%x: memref<8x4xf32>):
  %t = "hir.allocate"() : () -> memref<8x4xf32>
  %y = "hir.unary"(%x) {kind = "exp"} : (memref<8x4xf32>) -> memref<8x4xf32>
  "hir.alias"(%y, %t) : (memref<8x4xf32>, memref<8x4xf32>) -> ()
  %z = "hir.unary"(%y) {kind = "neg"} : (memref<8x4xf32>) -> memref<8x4xf32>
  "hir.output"(%z) {name = "z", spread = ["axis:0"]} : (memref<8x4xf32>) -> ()
}) {mesh = array<i64: 2>, sym_name = "aliased", inputs = [{name = "x", spread = ["axis:0"]}],
    function_type = (memref<8x4xf32>) -> memref<8x4xf32>} : () -> ()

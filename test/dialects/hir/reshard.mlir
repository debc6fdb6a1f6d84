// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.reshard"(%{{.*}}) {from = "axis:0", from_team = array<i64: 0, 1>, to = "whole", to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
// CHECK: "hir.reshard"(%{{.*}}, %{{.*}}) {from = "partial:sum"
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %y: memref<4x2xf32>):
  %all = "hir.reshard"(%x) {from = "axis:0", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
  "hir.reshard"(%x, %y) {from = "partial:sum", to = "axis:1",
    from_team = array<i64: 0, 1>, to_team = array<i64: 2, 3, 4, 5>}
    : (memref<4x8xf32>, memref<4x2xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<4x2xf32>) -> ()} : () -> ()

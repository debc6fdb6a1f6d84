// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.for"(%{{.*}}, %{{.*}}, %{{.*}}) ({
// CHECK-NEXT: ^bb0(%[[I:.*]]: index):
// CHECK-NEXT: "hir.binary"(%{{.*}}, %[[I]], %{{.*}})
// CHECK-NEXT: }) {streams = 4 : i64} : (index, index, index) -> ()
"hir.program"() ({
^bb0(%x: memref<8xf32>, %n: index):
  "hir.for"(%n, %n, %n) ({
  ^bb0(%i: index):
    "hir.binary"(%x, %i, %x) {kind = "add"} : (memref<8xf32>, index, memref<8xf32>) -> ()
  }) {streams = 4 : i64} : (index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>, index) -> ()} : () -> ()

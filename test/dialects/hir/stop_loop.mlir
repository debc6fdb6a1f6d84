// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.for"
// CHECK: "hir.stop_loop"(%{{.*}}) : (i1) -> ()
"hir.program"() ({
^bb0(%x: memref<8xf32>, %n: index, %c: i1):
  "hir.for"(%n, %n, %n) ({
  ^bb0(%i: index):
    "hir.stop_loop"(%c) : (i1) -> ()
    "hir.binary"(%x, %i, %x) {kind = "add"} : (memref<8xf32>, index, memref<8xf32>) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>, index, i1) -> ()} : () -> ()

// RUN: hirc-opt %s -p convert-hir-to-gpu,canonicalize,cse | FileCheck %s

// The buffer begins where the memory of the other began, also where that was a view; the memory is
// freed as what it was allocated as.

// CHECK-LABEL: func.func private @hirc_body_main(
// CHECK-SAME:      %[[STREAM:.*]]: !llvm.ptr)
// CHECK:         %[[MANAGED:.*]] = llvm.mlir.constant(2 : i32)
// CHECK:         llvm.call @hirc_allocate(%{{.*}}, %[[MANAGED]], %[[STREAM]], %{{.*}})
// CHECK:         %[[MEMORY:.*]] = llvm.extractvalue %{{.*}}[0]
// CHECK:         %[[A:.*]] = llvm.insertvalue %[[MEMORY]], %{{.*}}[0]
// CHECK:         llvm.insertvalue %[[MEMORY]], %[[A]][1]
// CHECK:         llvm.call @hirc_free(%{{.*}}, %[[MANAGED]], %[[STREAM]], %{{.*}})
"hir.program"() ({
  %one = arith.constant 1 : index
  %y = "hir.allocate"() {memory = "managed"} : () -> memref<4x8xf32>
  %row = "hir.select"(%y, %one) {axis = 0 : i64}
    : (memref<4x8xf32>, index) -> memref<8xf32, strided<[1], offset: 8>>
  %z = "hir.reuse"(%row) : (memref<8xf32, strided<[1], offset: 8>>) -> memref<8xi32>
  %c = "hir.call"() ({
    "hir.argument"(%z) : (memref<8xi32>) -> ()
  }) {callee = @use} : () -> !hir.results_t
  "hir.deallocate"(%z) : (memref<8xi32>) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

"hir.program"() ({
^bb0(%x: memref<8xi32>):
}) {sym_name = "use", function_type = (memref<8xi32>) -> ()} : () -> ()

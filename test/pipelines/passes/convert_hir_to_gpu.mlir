// RUN: hirc-opt %s -p convert-hir-to-gpu | FileCheck %s

// A program becomes a private function of its inputs, a buffer for each output that is one, and the
// stream; its attributes say what was declared. Outputs have an open layout.

// CHECK:       module attributes {gpu.container_module}
// CHECK-LABEL: func.func private @hirc_body_main(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: memref<?x4xi8>, %[[T:[a-z0-9]+]]: memref<8xf32>, %[[S:[a-z0-9]+]]: i32,
// CHECK-SAME:      %{{.*}}: memref<?x4xi8, strided<[?, ?], offset: ?>>, %{{.*}}: memref<4xi8, strided<[?], offset: ?>>, %[[STREAM:[a-z0-9]+]]: !llvm.ptr)
// CHECK-SAME:      -> (memref<?x4xi8, strided<[?, ?], offset: ?>>, i32, memref<4xi8, strided<[?], offset: ?>>)
// CHECK-SAME:      hir.inputs = [{alignment = 16 : i64, name = "x", sizes = ["n", 4], type = memref<?x4xui8>}, {alignment = 1 : i64, name = "t", sizes = [8], type = memref<8xtf32>}, {alignment = 1 : i64, name = "s", type = ui32}]
// CHECK-SAME:      hir.outputs = [{input = 0 : i64, name = "same", origin = "input", sizes = ["n", 4], type = memref<?x4xui8>}, {name = "output1", type = ui32}, {name = "row", origin = "view", sizes = [4], type = memref<4xui8>}]
// CHECK-NOT:     hir.
// CHECK:         return %{{.*}}, %[[S]], %{{.*}}
// CHECK-NOT:   hir.
"hir.program"() ({
^bb0(%x: memref<?x4xui8>, %t: memref<8xtf32>, %s: ui32):
  %zero = arith.constant 0 : index
  %f = builtin.unrealized_conversion_cast %t : memref<8xtf32> to memref<8xf32>
  %n = memref.dim %f, %zero : memref<8xf32>
  %row = "hir.select"(%x, %zero) {axis = 0 : i64}
    : (memref<?x4xui8>, index) -> memref<4xui8>
  "hir.output"(%x) {name = "same"} : (memref<?x4xui8>) -> ()
  "hir.output"(%s) : (ui32) -> ()
  "hir.output"(%row) {name = "row"} : (memref<4xui8>) -> ()
}) {sym_name = "main",
    inputs = [{name = "x", sizes = ["n", 4], alignment = 16 : i64}, {name = "t"}, {name = "s"}],
    function_type = (memref<?x4xui8>, memref<8xtf32>, ui32) -> (memref<?x4xui8>, ui32, memref<4xui8>)} : () -> ()

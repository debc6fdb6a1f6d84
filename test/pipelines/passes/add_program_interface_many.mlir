// Programs of one module share their strings.
// RUN: hirc-opt --pass-pipeline='builtin.module(add-program-interface{executable=false})' %s | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal unnamed_addr constant @{{.*}}("f32\00")
// CHECK-NOT: ("f32\00")
func.func private @hirc_body_flat(%x: memref<4xf32>, %stream: !llvm.ptr) -> memref<4xf32>
    attributes {hir.inputs = [{name = "x", type = memref<4xf32>}],
                hir.outputs = [{name = "x", type = memref<4xf32>, origin = "input", input = 0}]} {
  return %x : memref<4xf32>
}
func.func private @hirc_body_deep(%x: memref<2x3x4xf32>, %stream: !llvm.ptr) -> memref<2x3x4xf32>
    attributes {hir.inputs = [{name = "x", type = memref<2x3x4xf32>}],
                hir.outputs = [{name = "x", type = memref<2x3x4xf32>, origin = "input", input = 0}]} {
  return %x : memref<2x3x4xf32>
}

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.program"() ({
// CHECK: ^bb0(%[[X:.*]]: memref<?x64xf32>, %[[SCALE:.*]]: f32):
// CHECK: "hir.output"
// CHECK: inputs = [{alignment = 16 : i64, name = "x", sizes = ["n", 64]}, {name = "scale"}]
"hir.program"() ({
^bb0(%x: memref<?x64xf32>, %scale: f32):
  %y = "hir.binary"(%x, %scale) {kind = "mul"} : (memref<?x64xf32>, f32) -> memref<?x64xf32>
  %axis = arith.constant 0 : index
  %n = memref.dim %x, %axis : memref<?x64xf32>
  %some = arith.cmpi sgt, %n, %axis : index
  cf.assert %some, "x has no rows"
  "hir.output"(%y) {name = "y"} : (memref<?x64xf32>) -> ()
  "hir.output"(%n) : (index) -> ()
}) {sym_name = "main",
    inputs = [{name = "x", sizes = ["n", 64], alignment = 16 : i64}, {name = "scale"}],
    function_type = (memref<?x64xf32>, f32) -> (memref<?x64xf32>, index)} : () -> ()

// Strides of an output do not bind, and a size may be open on one side.
// CHECK: sym_name = "strided"
"hir.program"() ({
^bb0(%x: memref<8x4xf32, strided<[8, 1]>>, %n: memref<?xf32>):
  "hir.output"(%x) : (memref<8x4xf32, strided<[8, 1]>>) -> ()
  "hir.output"(%n) : (memref<?xf32>) -> ()
}) {sym_name = "strided", function_type = (memref<8x4xf32, strided<[8, 1]>>, memref<?xf32>)
      -> (memref<8x4xf32>, memref<8xf32>)} : () -> ()

// A program may be empty, and what linalg computes with is linalg's.
// CHECK: sym_name = "empty"
"hir.program"() ({
^bb0:
}) {sym_name = "empty", function_type = () -> ()} : () -> ()
// CHECK: sym_name = "with_linalg"
"hir.program"() ({
^bb0(%x: memref<4xf32>):
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%x : memref<4xf32>) {
  ^bb0(%out: f32):
    %z = complex.create %out, %out : complex<f32>
    %re = complex.re %z : complex<f32>
    linalg.yield %re : f32
  }
}) {sym_name = "with_linalg", function_type = (memref<4xf32>) -> ()} : () -> ()

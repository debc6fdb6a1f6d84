// RUN: hirc-opt %s -p convert-hir-to-gpu | FileCheck %s

// One call: what is known of the product, what earlier calls of this place left, then the size of
// each loop and the strides of the operands along it.

// CHECK-DAG: llvm.mlir.global internal constant @hirc_matmul_site(dense<[14, 0, 68, 2, 1, 0, 3, 5, 14, 3]> : tensor<10xi64>)
// CHECK-DAG: llvm.mlir.global internal @hirc_matmul_cache(dense<0> : tensor<8xi64>)
// CHECK-DAG: llvm.mlir.global internal constant @hirc_matmul_site_1(dense<[0, 0, 77, 0, 0, 1, 3, 21, 22, 3]> : tensor<10xi64>)
// CHECK-LABEL: func.func private @hirc_body_product(
// CHECK-SAME:    %[[A:.*]]: memref<?x64xbf16>, %{{.*}}: memref<64x32xbf16>
// CHECK-DAG:     %[[ROOM:.*]] = llvm.alloca %{{.*}} x !llvm.array<18 x i64>
// CHECK-DAG:     %[[SITE_ADDRESS:.*]] = llvm.mlir.addressof @hirc_matmul_site :
// CHECK-DAG:     %[[CACHE_ADDRESS:.*]] = llvm.mlir.addressof @hirc_matmul_cache :
// CHECK:         llvm.call @hirc_matmul(%[[SITE_ADDRESS]], %[[CACHE_ADDRESS]], %[[ROOM]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %arg{{[0-9]+}}, %{{.*}})
"hir.program"() ({
^bb0(%a: memref<?x64xbf16>, %b: memref<64x32xbf16>, %c: memref<?x32xf32>, %d: memref<32xf32>):
  "hir.library_matmul"(%a, %b, %c, %d) {activation = "gelu_tanh", compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 1>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>} : (memref<?x64xbf16>, memref<64x32xbf16>, memref<?x32xf32>, memref<32xf32>) -> ()
}) {sym_name = "product", function_type = (memref<?x64xbf16>, memref<64x32xbf16>, memref<?x32xf32>, memref<32xf32>) -> ()} : () -> ()

// Without a bias its address is null; a sum in tf32 that is added to what is there.
// CHECK-LABEL: func.func private @hirc_body_added(
// CHECK:         %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         llvm.call @hirc_matmul(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[NULL]],
"hir.program"() ({
^bb0(%a: memref<8x8xf32>):
  "hir.library_matmul"(%a, %a, %a, %a) {compute = "tf32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>} : (memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) -> ()
}) {sym_name = "added", function_type = (memref<8x8xf32>) -> ()} : () -> ()

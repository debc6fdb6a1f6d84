// RUN: hirc-opt %s -p convert-hir-to-gpu | FileCheck %s

// One call: what is known of the convolution, what earlier calls of this place left, then the size and
// the stride of each dim of image, weights and result.

// CHECK-DAG: llvm.mlir.global internal constant @hirc_convolution_site(dense<[9, 1, 1, 0, 2, 1, 2, 0, 0, 1, 0, 0, 3, 0, 0]> : tensor<15xi64>)
// CHECK-DAG: llvm.mlir.global internal @hirc_convolution_cache(dense<0> : tensor<8xi64>)
// CHECK-DAG: llvm.mlir.global internal constant @hirc_convolution_site_1(dense<[0, 3, 0, 1, 1, 2, 1, 1, 0, 0, 0, 0, 1, 1, 0]> : tensor<15xi64>)
// CHECK-DAG: llvm.mlir.global internal constant @hirc_convolution_site_2(dense<[0, 1, 0, 0, 1, 2, 1, 1, 0, 0, 0, 0, 1, 1, 0]> : tensor<15xi64>)
// CHECK-LABEL: func.func private @hirc_body_gradient(
// CHECK-DAG:     %[[ROOM:.*]] = llvm.alloca %{{.*}} x !llvm.array<18 x i64>
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @hirc_convolution_site :
// CHECK-DAG:     %[[CACHE:.*]] = llvm.mlir.addressof @hirc_convolution_cache :
// CHECK:         llvm.call @hirc_convolution(%[[SITE]], %[[CACHE]], %[[ROOM]], %{{.*}}, %{{.*}}, %{{.*}}, %arg{{[0-9]+}}, %{{.*}})
"hir.program"() ({
^bb0(%x: memref<?x2x3x?xbf16>, %w: memref<6x1x4x4xbf16>, %y: memref<?x2x4x?xbf16>):
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 3>, dims = [array<i64: 0, 1, 1, 2>, array<i64: 0, -1, 1, 2>, array<i64: 0, 1, 1, 2>], direction = "data_gradient", groups = 2 : i64, padding = array<i64: 1>, strides = array<i64: 2>} : (memref<?x2x3x?xbf16>, memref<6x1x4x4xbf16>, memref<?x2x4x?xbf16>) -> ()
}) {sym_name = "gradient", function_type = (memref<?x2x3x?xbf16>, memref<6x1x4x4xbf16>, memref<?x2x4x?xbf16>) -> ()} : () -> ()

// CHECK-LABEL: func.func private @hirc_body_forward(
// CHECK:         llvm.call @hirc_has_cudnn() : () -> i32
// CHECK:         llvm.call @hirc_convolution(
// CHECK:         llvm.call @hirc_convolution(
"hir.program"() ({
^bb0(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>):
  %there = "hir.has_library"() {library = "cuDNN"} : () -> i1
  "hir.if"(%there) ({
    "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>, transforms} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  }, {
    "hir.library_convolution"(%x, %w, %y) {compute = "tf32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  }) : (i1) -> !hir.results_t
}) {sym_name = "forward", function_type = (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()} : () -> ()

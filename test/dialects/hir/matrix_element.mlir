// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<3xf32>, %y: memref<2xf32>) {
  linalg.generic {indexing_maps = [affine_map<(a, i) -> (i)>, affine_map<(a, i) -> (a)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3xf32>) outs(%y : memref<2xf32>) {
  ^bb0(%e: f32, %b: f32):
    %a = linalg.index 0 : index
    %i = linalg.index 1 : index
    // CHECK: %{{.*}} = "hir.matrix_element"(%{{.*}}, %{{.*}}) {matrix = dense<{{\[\[}}1.000000e+00, 5.000000e-01, 0.000000e+00], [0.000000e+00, -1.000000e+00, 2.000000e+00]]> : tensor<2x3xf32>} : (index, index) -> f32
    %m = "hir.matrix_element"(%a, %i) {matrix = dense<[[1.0, 0.5, 0.0], [0.0, -1.0, 2.0]]> : tensor<2x3xf32>} : (index, index) -> f32
    %p = arith.mulf %e, %m : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %s : f32
  }
  return
}

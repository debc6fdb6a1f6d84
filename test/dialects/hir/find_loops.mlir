// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<4x8x2xf16>, %n: memref<4x8x2xi1>, %y: memref<8xf16>) {
  linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>,
                                   affine_map<(a, b, c) -> (a, b, c)>,
                                   affine_map<(a, b, c) -> (b)>],
                  iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x, %n : memref<4x8x2xf16>, memref<4x8x2xi1>) outs(%y : memref<8xf16>) {
  ^bb0(%a: f16, %i: i1, %b: f16):
    // CHECK: %{{.*}}:2 = "hir.find_loops"(%{{.*}}) {kind = "maximumf", loops = array<i64: 2, 0>} : (f16) -> (f16, i64)
    %0:2 = "hir.find_loops"(%a) {kind = "maximumf", loops = array<i64: 2, 0>} : (f16) -> (f16, i64)
    // CHECK: %{{.*}}:2 = "hir.find_loops"(%{{.*}}) {kind = "minui", loops = array<i64: 2>} : (i1) -> (i1, i64)
    %1:2 = "hir.find_loops"(%i) {kind = "minui", loops = array<i64: 2>} : (i1) -> (i1, i64)
    linalg.yield %a : f16
  }
  return
}

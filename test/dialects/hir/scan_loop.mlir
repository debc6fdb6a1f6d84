// RUN: hirc-opt %s | hirc-opt | FileCheck %s

func.func @valid(%x: memref<4x8x2xf16>, %n: memref<4x8x2xi1>, %y: memref<8xf16>) {
  linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>,
                                   affine_map<(a, b, c) -> (a, b, c)>,
                                   affine_map<(a, b, c) -> (b)>],
                  iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x, %n : memref<4x8x2xf16>, memref<4x8x2xi1>) outs(%y : memref<8xf16>) {
  ^bb0(%a: f16, %i: i1, %b: f16):
    // CHECK: %{{.*}} = "hir.scan_loop"(%{{.*}}) {exclusive, kind = "addf", loop = 2 : i64, reverse} : (f16) -> f16
    %0 = "hir.scan_loop"(%a) {exclusive, kind = "addf", loop = 2 : i64, reverse} : (f16) -> f16
    // CHECK: %{{.*}} = "hir.scan_loop"(%{{.*}}) {kind = "ori", loop = 0 : i64} : (i1) -> i1
    %1 = "hir.scan_loop"(%i) {kind = "ori", loop = 0 : i64} : (i1) -> i1
    linalg.yield %a : f16
  }
  return
}

// RUN: hirc-opt %s | FileCheck %s

// CHECK: "hir.scatter"(%{{.*}}, %{{.*}}, %{{.*}}) {kind = "addf"} : (f32, f32, index) -> f32
func.func @sum(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (0)>], iterator_types = ["parallel"]}
    ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %r = "hir.scatter"(%o, %a, %i) {kind = "addf"} : (f32, f32, index) -> f32
    linalg.yield %r : f32
  }
  return
}

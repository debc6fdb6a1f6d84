// RUN: hirc-opt %s --pass-pipeline='builtin.module(resolve-tensor-sizes,func.func(canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#zero = affine_map<(d0) -> (0)>
#pairs = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// The size of what is scattered into is that of the destination, through two updates and what reads them.
// CHECK-LABEL: @scattered
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %{{.*}}: tensor<?xindex>, %[[D:.*]]: tensor<?xf32>
// CHECK-DAG: %[[SIZE:.*]] = tensor.dim %[[D]]
// CHECK-NOT: unrealized_conversion_cast
// CHECK: return %{{.*}}, %[[SIZE]]
func.func @scattered(%x: tensor<?xf32>, %at: tensor<?xindex>, %d: tensor<?xf32>, %n: index) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %once = linalg.generic {indexing_maps = [#id, #id, #zero], iterator_types = ["parallel"]}
      ins(%x, %at : tensor<?xf32>, tensor<?xindex>) outs(%d : tensor<?xf32>) {
  ^bb0(%a: f32, %i: index, %o: f32):
    %r = "hir.scatter"(%o, %a, %i) : (f32, f32, index) -> f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %twice = linalg.generic {indexing_maps = [#id, #id, #zero], iterator_types = ["parallel"]}
      ins(%x, %at : tensor<?xf32>, tensor<?xindex>) outs(%once : tensor<?xf32>) {
  ^bb0(%a: f32, %i: index, %o: f32):
    %r = "hir.scatter"(%o, %a, %i) : (f32, f32, index) -> f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %double = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%twice : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %size = tensor.dim %double, %c0 : tensor<?xf32>
  return %double, %size : tensor<?xf32>, index
}

// Other results have their loops' sizes, as upstream's pass says.
// CHECK-LABEL: @summed
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32>
// CHECK: %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK: return %[[SIZE]]
func.func @summed(%x: tensor<?x?xf32>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#pairs, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %size = tensor.dim %s, %c0 : tensor<?xf32>
  return %size : index
}

// RUN: hirc-opt %s --write-carried-tensors | FileCheck %s

// A state that is carried on, and kept for each step: one operation writes both, where they are to be.

// CHECK-LABEL: func.func @recurrent
// CHECK:       scf.for %[[T:.*]] = {{.*}} iter_args(%[[H:.*]] = %{{.*}}, %[[ALL:.*]] = %{{.*}})
// CHECK:         %[[P:.*]] = linalg.matvec ins(%{{.*}}, %[[H]]
// CHECK:         cf.assert %{{.*}}, "beyond"
// CHECK-NEXT:    %[[S:.*]] = tensor.extract_slice %[[ALL]][%[[T]], 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
// CHECK-NEXT:    %[[N:.*]]:2 = linalg.generic {{.*}} ins(%[[P]], %[[H]] : {{.*}}) outs(%[[H]], %[[S]] :
// CHECK:           linalg.yield %[[V:.*]], %[[V]] : f32, f32
// CHECK:         %[[I:.*]] = tensor.insert_slice %[[N]]#1 into %[[ALL]]
// CHECK-NEXT:    scf.yield %[[N]]#0, %[[I]]
#id = affine_map<(i) -> (i)>
func.func @recurrent(%w: tensor<4x4xf32>, %h: tensor<4xf32>, %holds: i1) -> tensor<9x4xf32>
    attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %empty = tensor.empty() : tensor<9x4xf32>
  %found:2 = scf.for %t = %c0 to %c9 step %c1 iter_args(%state = %h, %all = %empty)
      -> (tensor<4xf32>, tensor<9x4xf32>) {
    %room = tensor.empty() : tensor<4xf32>
    %p = linalg.matvec ins(%w, %state : tensor<4x4xf32>, tensor<4xf32>) outs(%room : tensor<4xf32>) -> tensor<4xf32>
    %new = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%p, %state : tensor<4xf32>, tensor<4xf32>) outs(%room : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    cf.assert %holds, "beyond"
    %more = tensor.insert_slice %new into %all[%t, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %new, %more : tensor<4xf32>, tensor<9x4xf32>
  }
  return %found#1 : tensor<9x4xf32>
}

// The state is read in another order, or again after: the result has memory of its own. What nothing
// reads is written.

// CHECK-LABEL: func.func @kept_apart
// CHECK:       scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}})
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : tensor<4x4xf32>) outs(%[[R:.*]] :
// CHECK:         linalg.generic {{.*}} ins(%[[B]] : tensor<4x4xf32>) outs(%[[R]] :
// CHECK:         linalg.generic {{.*}} ins(%[[B]] : tensor<4x4xf32>) outs(%[[C]] :
#m = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
func.func @kept_apart(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
    attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %found:3 = scf.for %t = %c0 to %c9 step %c1 iter_args(%a = %x, %b = %x, %c = %x)
      -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
    %room = tensor.empty() : tensor<4x4xf32>
    %turned = linalg.generic {indexing_maps = [#t, #m], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<4x4xf32>) outs(%room : tensor<4x4xf32>) {
    ^bb0(%in: f32, %o: f32):
      linalg.yield %in : f32
    } -> tensor<4x4xf32>
    %first = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
        ins(%b : tensor<4x4xf32>) outs(%room : tensor<4x4xf32>) {
    ^bb0(%in: f32, %o: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<4x4xf32>
    %second = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
        ins(%b : tensor<4x4xf32>) outs(%room : tensor<4x4xf32>) {
    ^bb0(%in: f32, %o: f32):
      %e = math.exp %in : f32
      linalg.yield %e : f32
    } -> tensor<4x4xf32>
    scf.yield %turned, %first, %second : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %found#0, %found#1, %found#2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// An assertion that needs what comes after the result stays, and the slice is copied.

// CHECK-LABEL: func.func @checked_after
// CHECK:       scf.for
// CHECK-NOT:     tensor.extract_slice
// CHECK:         scf.yield
func.func @checked_after(%x: tensor<4xf32>, %n: tensor<9xindex>) -> tensor<9x4xf32>
    attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %empty = tensor.empty() : tensor<9x4xf32>
  %found = scf.for %t = %c0 to %c9 step %c1 iter_args(%all = %empty) -> (tensor<9x4xf32>) {
    %room = tensor.empty() : tensor<4xf32>
    %new = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<4xf32>) outs(%room : tensor<4xf32>) {
    ^bb0(%in: f32, %o: f32):
      %e = math.exp %in : f32
      linalg.yield %e : f32
    } -> tensor<4xf32>
    %at = tensor.extract %n[%t] : tensor<9xindex>
    %holds = arith.cmpi ult, %at, %c9 : index
    cf.assert %holds, "beyond"
    %more = tensor.insert_slice %new into %all[%t, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %more : tensor<9x4xf32>
  }
  return %found : tensor<9x4xf32>
}

// What takes a result that was given its place is given its own, too.

// CHECK-LABEL: func.func @one_after_another
// CHECK:       scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK:         linalg.matvec ins(%{{.*}}, %[[B]]
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<4xf32>) outs(%[[A]] :
// CHECK:         %[[Q:.*]] = linalg.generic {{.*}} ins(%[[P]], %{{.*}} : {{.*}}) outs(%[[B]] :
// CHECK:         scf.yield %[[P]], %[[Q]]
func.func @one_after_another(%w: tensor<4x4xf32>, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %found:2 = scf.for %t = %c0 to %c9 step %c1 iter_args(%a = %x, %b = %x)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %room = tensor.empty() : tensor<4xf32>
    %m = linalg.matvec ins(%w, %b : tensor<4x4xf32>, tensor<4xf32>) outs(%room : tensor<4xf32>) -> tensor<4xf32>
    %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<4xf32>) outs(%room : tensor<4xf32>) {
    ^bb0(%in: f32, %o: f32):
      %s = arith.addf %in, %in : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%p, %m : tensor<4xf32>, tensor<4xf32>) outs(%room : tensor<4xf32>) {
    ^bb0(%in: f32, %other: f32, %o: f32):
      %s = arith.addf %in, %other : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    scf.yield %p, %q : tensor<4xf32>, tensor<4xf32>
  }
  return %found#1 : tensor<4xf32>
}

// RUN: hirc-opt %s --separate-starts | FileCheck %s

// CHECK-LABEL: func.func @vectors
// CHECK:         %[[E:.*]] = tensor.empty(%arg2)
// CHECK:         %[[Z:.*]] = linalg.fill {{.*}} outs(%[[E]] :
// CHECK-NEXT:    %[[A:.*]] = linalg.matvec {{.*}} outs(%[[Z]] :
// CHECK-NEXT:    %[[F:.*]] = tensor.empty(%arg2)
// CHECK-NEXT:    %[[Y:.*]] = linalg.fill {{.*}} outs(%[[F]] :
// CHECK-NEXT:    %[[B:.*]] = linalg.matvec {{.*}} outs(%[[Y]] :
// What is filled as a part of something else stays shared.
// CHECK-NEXT:    linalg.add {{.*}} outs(%arg1 :
// CHECK-NEXT:    linalg.add {{.*}} outs(%arg1 :
// CHECK:         scf.for
// CHECK-NEXT:      %[[G:.*]] = tensor.empty(%arg2)
// CHECK-NEXT:      linalg.exp {{.*}} outs(%[[G]] :
func.func @vectors(%m: tensor<?x?xf32>, %v: tensor<?xf32>, %n: index, %i: index)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) attributes {hir.program} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %a = linalg.matvec ins(%m, %v : tensor<?x?xf32>, tensor<?xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.matvec ins(%m, %a : tensor<?x?xf32>, tensor<?xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  %c = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%v : tensor<?xf32>) -> tensor<?xf32>
  %d = linalg.add ins(%b, %a : tensor<?xf32>, tensor<?xf32>) outs(%v : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %k = %i to %n step %i iter_args(%x = %c) -> tensor<?xf32> {
    %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %d, %r, %a : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// RUN: hirc-opt %s --split-input-file -p 'own-branch-results' | FileCheck %s

// The copy sees what the branch wrote before.
// CHECK-LABEL: func.func @outside_and_fresh
// CHECK:       %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK:       scf.if %{{.*}} -> (memref<4xf32>) {
// CHECK-NEXT:    linalg.exp ins(%arg0 : memref<4xf32>) outs(%[[A]] : memref<4xf32>)
// CHECK-NEXT:    %[[COPY:.*]] = "hir.set"(%[[A]]) : (memref<4xf32>) -> memref<4xf32>
// CHECK-NEXT:    scf.yield %[[COPY]]
// CHECK:       } else {
// CHECK-NEXT:    %[[FRESH:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.abs
// CHECK-NEXT:    scf.yield %[[FRESH]]
func.func @outside_and_fresh(%x: memref<4xf32>, %c: i1) -> memref<4xf32> attributes {hir.program} {
  %a = memref.alloc() : memref<4xf32>
  %y = scf.if %c -> memref<4xf32> {
    linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    %b = memref.alloc() : memref<4xf32>
    linalg.abs ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
    scf.yield %b : memref<4xf32>
  }
  return %y : memref<4xf32>
}

// -----

// CHECK-LABEL: func.func @same_buffer
// CHECK:       %[[A:.*]] = memref.alloc()
// CHECK-NOT:   hir.set
// CHECK:       return %[[A]]
func.func @same_buffer(%x: memref<4xf32>, %c: i1) -> memref<4xf32> attributes {hir.program} {
  %a = memref.alloc() : memref<4xf32>
  %y = scf.if %c -> memref<4xf32> {
    linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %a : memref<4xf32>
  }
  return %y : memref<4xf32>
}

// -----

// One life has one owner: what a branch gives twice, what a call hands on, and what a loop carries.
// CHECK-LABEL: func.func @shared
// CHECK:       scf.if
// CHECK:         %[[A:.*]] = memref.alloc()
// CHECK:         %[[TWICE:.*]] = "hir.set"(%[[A]])
// CHECK-NEXT:    scf.yield %[[A]], %[[TWICE]]
// CHECK:       } else {
// CHECK:         %[[CALL:.*]] = func.call @same
// CHECK:         %[[LOOP:.*]] = scf.for
// CHECK:         %[[ONE:.*]] = "hir.set"(%[[CALL]])
// CHECK-NEXT:    %[[OTHER:.*]] = "hir.set"(%[[LOOP]])
// CHECK-NEXT:    scf.yield %[[ONE]], %[[OTHER]]
func.func private @same(%x: memref<4xf32>) -> memref<4xf32> attributes {hir.program} {
  return %x : memref<4xf32>
}
func.func @shared(%x: memref<4xf32>, %c: i1, %n: index)
    -> (memref<4xf32>, memref<4xf32>) attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y:2 = scf.if %c -> (memref<4xf32>, memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
    scf.yield %a, %a : memref<4xf32>, memref<4xf32>
  } else {
    %s = func.call @same(%x) : (memref<4xf32>) -> memref<4xf32>
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> memref<4xf32> {
      scf.yield %p : memref<4xf32>
    }
    scf.yield %s, %l : memref<4xf32>, memref<4xf32>
  }
  return %y#0, %y#1 : memref<4xf32>, memref<4xf32>
}

// -----

// CHECK-LABEL: func.func @view
// CHECK:       %[[SET:.*]] = "hir.set"(%{{.*}}) : (memref<4xf32, strided<[?], offset: ?>>) -> memref<4xf32>
// CHECK-NEXT:  %[[CAST:.*]] = memref.cast %[[SET]] : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
// CHECK-NEXT:  scf.yield %[[CAST]]
func.func @view(%x: memref<4xf32, strided<[?], offset: ?>>, %c: i1)
    -> memref<4xf32, strided<[?], offset: ?>> attributes {hir.program} {
  %y = scf.if %c -> memref<4xf32, strided<[?], offset: ?>> {
    scf.yield %x : memref<4xf32, strided<[?], offset: ?>>
  } else {
    %a = memref.alloc() : memref<4xf32>
    %v = memref.cast %a : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
    scf.yield %v : memref<4xf32, strided<[?], offset: ?>>
  }
  return %y : memref<4xf32, strided<[?], offset: ?>>
}

// RUN: hirc-opt %s -p 'convert-while-to-for,func.func(canonicalize,cse)' | FileCheck %s

// The condition gives what is yielded, and may be of another type than what is taken.
// CHECK-LABEL: func.func @until
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[MOST:.*]]: f32)
// CHECK-NOT: scf.while
// CHECK: %[[FIRST:.*]] = tensor.extract %[[X]]
// CHECK: %[[BEGINS:.*]] = arith.cmpf olt, %[[FIRST]], %[[MOST]]
// CHECK: %[[COUNT:.*]] = arith.select %[[BEGINS]], %c9223372036854775807, %c0
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c1 iter_args(%[[A:.*]] = %[[X]], %[[B:.*]] = %{{.*}}) -> (tensor<4xf32>, tensor<i1>)
// CHECK:   %[[SUM:.*]] = arith.addf %[[A]], %[[A]]
// CHECK:   %[[NEXT:.*]] = tensor.extract %[[SUM]]
// CHECK:   %[[GOES:.*]] = arith.cmpf olt, %[[NEXT]], %[[MOST]]
// CHECK:   %[[LAST:.*]] = arith.xori %[[GOES]], %true
// CHECK:   "hir.stop_loop"(%[[LAST]])
// CHECK:   scf.yield %[[SUM]], %{{.*}}
func.func @until(%x: tensor<4xf32>, %most: f32) -> (tensor<4xf32>, tensor<i1>)
    attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %e, %c = scf.while (%p = %x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>) {
    %v = tensor.extract %p[%c0] : tensor<4xf32>
    %c = arith.cmpf olt, %v, %most : f32
    %t = tensor.from_elements %c : tensor<i1>
    scf.condition(%c) %p, %t : tensor<4xf32>, tensor<i1>
  } do {
  ^bb0(%q: tensor<4xf32>, %t: tensor<i1>):
    %s = arith.addf %q, %q : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %e, %c : tensor<4xf32>, tensor<i1>
}

// A loop of a kernel, or of a function that is no program, stays.
// CHECK-LABEL: func.func @of_elements
// CHECK: linalg.generic
// CHECK: scf.while
func.func @of_elements(%x: tensor<4xi32>) -> tensor<4xi32> attributes {hir.program} {
  %e = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<4xi32>) {
  ^bb0(%a: i32):
    %w = scf.while (%p = %a) : (i32) -> i32 {
      %c = arith.cmpi slt, %p, %a : i32
      scf.condition(%c) %p : i32
    } do {
    ^bb0(%q: i32):
      %s = arith.addi %q, %q : i32
      scf.yield %s : i32
    }
    linalg.yield %w : i32
  } -> tensor<4xi32>
  return %e : tensor<4xi32>
}

// CHECK-LABEL: func.func @no_program
// CHECK: scf.while
func.func @no_program(%x: i32) -> i32 {
  %w = scf.while (%p = %x) : (i32) -> i32 {
    %c = arith.cmpi slt, %p, %x : i32
    scf.condition(%c) %p : i32
  } do {
  ^bb0(%q: i32):
    %s = arith.addi %q, %q : i32
    scf.yield %s : i32
  }
  return %w : i32
}

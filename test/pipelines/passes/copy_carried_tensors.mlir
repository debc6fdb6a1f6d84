// RUN: hirc-opt %s --split-input-file -p 'copy-carried-tensors' | FileCheck %s

// CHECK-LABEL: func.func @in_place
// CHECK-NOT: alloc_tensor
// CHECK-NOT: materialize_in_destination
// CHECK: return
func.func @in_place(%x: tensor<4xf32>, %v: f32, %n: index) -> tensor<4xf32>
    attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> tensor<4xf32> {
    %t = tensor.insert %v into %p[%i] : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @swap
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %arg0, %[[Q:.*]] = %arg1)
// CHECK: cf.assert %{{.*}}, "scf.for: the size of dim 0 of a carried tensor changes"
// CHECK: %[[A:.*]] = bufferization.alloc_tensor() copy(%[[Q]]) : tensor<?xf32>
// CHECK: %[[B:.*]] = bufferization.alloc_tensor() copy(%[[P]]) : tensor<?xf32>
// CHECK: %[[C:.*]] = bufferization.materialize_in_destination %[[A]] in %[[P]]
// CHECK: %[[D:.*]] = bufferization.materialize_in_destination %[[B]] in %[[Q]]
// CHECK: scf.yield %[[C]], %[[D]]
func.func @swap(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>)
    attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y)
      -> (tensor<?xf32>, tensor<?xf32>) {
    scf.yield %q, %p : tensor<?xf32>, tensor<?xf32>
  }
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// -----

// What is written to the carried tensor is not copied beside two that change places.
// CHECK-LABEL: func.func @swap_beside
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %arg0, %[[Q:.*]] = %arg1, %[[R:.*]] = %arg2)
// CHECK: %[[T:.*]] = tensor.insert %{{.*}} into %[[R]]
// CHECK-COUNT-2: bufferization.alloc_tensor()
// CHECK-NOT: alloc_tensor
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[T]]
func.func @swap_beside(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %v: f32, %n: index)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a, %b, %c = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y, %r = %z)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %t = tensor.insert %v into %r[%i] : tensor<4xf32>
    scf.yield %q, %p, %t : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The carried tensor is read after it is written to: it is copied as well.
// CHECK-LABEL: func.func @read_after_all
// CHECK: %[[T:.*]] = tensor.insert %{{.*}} into %[[R:.*]][
// CHECK: %[[U:.*]] = bufferization.alloc_tensor() copy(%[[T]])
// CHECK: materialize_in_destination %[[U]] in %[[R]]
func.func @read_after_all(%x: tensor<4xf32>, %z: tensor<4xf32>, %v: f32, %n: index)
    -> (tensor<4xf32>, tensor<4xf32>) attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a, %c = scf.for %i = %c0 to %n step %c1 iter_args(%q = %x, %r = %z)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %t = tensor.insert %v into %r[%i] : tensor<4xf32>
    %w = tensor.extract %r[%i] : tensor<4xf32>
    %s = tensor.insert %w into %q[%c0] : tensor<4xf32>
    scf.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  }
  return %a, %c : tensor<4xf32>, tensor<4xf32>
}

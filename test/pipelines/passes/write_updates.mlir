// RUN: hirc-opt %s --split-input-file -p select-host-programs,write-updates | FileCheck %s

// A slice is inserted in place, and nobody is given the whole.
// CHECK-LABEL: func.func @slice
// CHECK-SAME: %[[K:[^: ]*]]: tensor<8x4xf32> {hirc.state = "kept", hirc.written})
// CHECK-NOT: ->
// CHECK: %[[NEW:[^ ]*]] = tensor.insert_slice %{{.*}} into %[[K]]
// CHECK: bufferization.materialize_in_destination %[[NEW]] in %[[K]]
// CHECK: return{{$}}
func.func @slice(%x: tensor<1x4xf32>, %i: index, %k: tensor<8x4xf32> {hirc.state = "kept"})
    -> (tensor<8x4xf32> {hirc.updates = 2}) {
  %new = tensor.insert_slice %x into %k[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  return %new : tensor<8x4xf32>
}

// -----

// What is computed anew is computed there.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: %[[N:[^: ]*]]: tensor<4xf32> {hirc.state = "n", hirc.written}
// CHECK: %[[NEW:.*]] = linalg.exp ins(%[[N]] : {{.*}}) outs(%[[N]] :
// CHECK: %[[THERE:.*]] = bufferization.materialize_in_destination %[[NEW]] in %[[N]]
// CHECK: return %[[THERE]]
func.func @elementwise(%n: tensor<4xf32> {hirc.state = "n"})
    -> (tensor<4xf32> {hirc.updates = 0}, tensor<4xf32> {hir.name = "y"}) {
  %empty = tensor.empty() : tensor<4xf32>
  %new = linalg.exp ins(%n : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %new, %new : tensor<4xf32>, tensor<4xf32>
}

// -----

// What was there before is copied where it is a result, and where another argument takes it.
// CHECK-LABEL: func.func @exchange
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf32> {hirc.written}, %[[B:[^:]*]]: tensor<4xf32>
// CHECK: %[[NEW_A:.*]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK: %[[NEW_B:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: %[[PART:.*]] = bufferization.alloc_tensor() copy(%{{.*}}) : tensor<2xf32>
// CHECK: bufferization.materialize_in_destination %[[NEW_A]] in %[[A]]
// CHECK: bufferization.materialize_in_destination %[[NEW_B]] in %[[B]]
// CHECK: return %[[PART]]
func.func @exchange(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32> {hirc.updates = 0}, tensor<2xf32>, tensor<4xf32> {hirc.updates = 1}) {
  %part = tensor.extract_slice %a[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %b, %part, %a : tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
}

// -----

// Nothing is written that stays as it is.
// CHECK-LABEL: func.func @unchanged
// CHECK-NOT: materialize
func.func @unchanged(%a: tensor<4xf32>) -> (tensor<4xf32> {hirc.updates = 0}) {
  return %a : tensor<4xf32>
}

// -----

// A result that only has the size of what is written has memory of its own.
// CHECK-LABEL: func.func @size
// CHECK: %[[EMPTY:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} outs(%[[EMPTY]] :
// CHECK-NOT: alloc_tensor
func.func @size(%x: tensor<1xf32>, %a: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32> {hirc.updates = 1}) {
  %new = tensor.insert_slice %x into %a[2] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
      iterator_types = ["parallel"]} ins(%new : tensor<4xf32>) outs(%new : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %twice = arith.addf %in, %in : f32
    linalg.yield %twice : f32
  } -> tensor<4xf32>
  return %y, %new : tensor<4xf32>, tensor<4xf32>
}

// -----

// What two arguments become is computed where the first is, and the other reads it there; a part of
// it is copied before.
// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf32> {hirc.written}, %[[B:[^:]*]]: tensor<4xf32> {hirc.written}, %[[C:[^:]*]]: tensor<2xf32>
// CHECK: %[[NEW:.*]] = linalg.exp ins(%{{.*}} : {{.*}}) outs(%[[A]] :
// CHECK: %[[PART:.*]] = bufferization.alloc_tensor() copy(%{{.*}}) : tensor<2xf32>
// CHECK: %[[IN_A:.*]] = bufferization.materialize_in_destination %[[NEW]] in %[[A]]
// CHECK: %[[IN_B:.*]] = bufferization.materialize_in_destination %[[IN_A]] in %[[B]]
// CHECK: bufferization.materialize_in_destination %[[PART]] in %[[C]]
// CHECK: return %[[IN_B]]
func.func @shared(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<2xf32>)
    -> (tensor<4xf32> {hirc.updates = 1}, tensor<4xf32> {hirc.updates = 2},
        tensor<2xf32> {hirc.updates = 3}, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %new = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %part = tensor.extract_slice %new[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %new, %new, %part, %new : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
}

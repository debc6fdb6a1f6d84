// RUN: hirc-opt %s --split-input-file -p 'check-tensor-views,func.func(canonicalize,cse,canonicalize)' | FileCheck %s

// CHECK-LABEL: func.func @cast
// CHECK: %[[SIZE:.*]] = tensor.dim %arg0, %c1
// CHECK: %[[FITS:.*]] = arith.cmpi eq, %[[SIZE]], %c4
// CHECK: cf.assert %[[FITS]], "tensor.cast: the size of dim 1 is not the 4 that its type says"
// CHECK-NOT: cf.assert
func.func @cast(%x: tensor<?x?x3xf32>) -> tensor<?x4x?xf32> attributes {hir.program} {
  %y = tensor.cast %x : tensor<?x?x3xf32> to tensor<?x4x?xf32>
  return %y : tensor<?x4x?xf32>
}

// -----

// Sizes that are the tensor's own, and slices that types say are within.
// CHECK-LABEL: func.func @nothing_to_check
// CHECK-NOT: cf.assert
// CHECK: return
func.func @nothing_to_check(%x: tensor<?x8xf32>, %s: tensor<2x4xf32>)
    -> (tensor<?x8xf32>, tensor<?x2x4xf32>, tensor<2x8xf32>) attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %y = tensor.extract_slice %x[0, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %z = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 2, 4]
      : tensor<?x8xf32> into tensor<?x2x4xf32>
  %e = tensor.empty() : tensor<2x8xf32>
  %w = tensor.insert_slice %s into %e[0, 4] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x8xf32>
  return %y, %z, %w : tensor<?x8xf32>, tensor<?x2x4xf32>, tensor<2x8xf32>
}

// -----

// Other functions are not host programs.
// CHECK-LABEL: func.func @unmarked
// CHECK-NOT: cf.assert
func.func @unmarked(%x: tensor<?xf32>) -> tensor<4xf32> {
  %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// What loops' indices are computed to must be there, unless nothing is read. What is known is not
// checked, nor what one loop indexes, which schedules look after.
// CHECK-LABEL: func.func @indices
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %{{.*}}, %[[Y:.*]]: tensor<?xf32>
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[Y]]
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[X]]
// CHECK-DAG: %[[EMPTY:.*]] = arith.cmpi eq, %[[N]], %c0
// CHECK: %[[NEEDED:.*]] = arith.select %[[EMPTY]], %c0, %{{.*}}
// CHECK: %[[FITS:.*]] = arith.cmpi sle, %[[NEEDED]], %[[M]]
// CHECK: cf.assert %[[FITS]], "dim 0 of operand 0 of linalg.generic is too small for what is read or written of it" {hir.shown = "it has {1} elements, {0} are needed"}
// CHECK-NOT: cf.assert
func.func @indices(%x: tensor<?xf32>, %k: tensor<1xf32>, %y: tensor<?xf32>) -> tensor<?xf32>
    attributes {hir.program} {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (2 * i + 1)>, affine_map<(i) -> (0)>,
                       affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x, %k : tensor<?xf32>, tensor<1xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @known_indices
// CHECK-NOT: cf.assert
// CHECK: return
func.func @known_indices(%x: tensor<1x9x2xf32>, %w: tensor<2x2x3xf32>, %y: tensor<1x4x3xf32>)
    -> tensor<1x4x3xf32> attributes {hir.program} {
  %r = linalg.conv_1d_nwc_wcf {strides = dense<2> : tensor<1xi64>}
    ins(%x, %w : tensor<1x9x2xf32>, tensor<2x2x3xf32>) outs(%y : tensor<1x4x3xf32>)
    -> tensor<1x4x3xf32>
  return %r : tensor<1x4x3xf32>
}

// -----

// What only copies is a cast before its kernel compares sizes.

// CHECK-LABEL: func.func @copy(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>)
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?xf32>
// CHECK:         %[[FITS:.*]] = arith.cmpi eq, %[[SIZE]], %{{.*}} : index
// CHECK-NEXT:    cf.assert %[[FITS]], "dim 0 of operand 0 and dim 0 of operand 1 are one loop of linalg.copy and must have the same size"
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @copy(%x: tensor<?xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {hir.program} {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.copy ins(%x : tensor<?xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.copy ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// RUN: hirc-opt %s --split-input-file --keep-unwritten-elements | FileCheck %s

// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0) -> (0, d0)>
// CHECK-LABEL: func.func @row
// CHECK:         %[[N:.*]] = tensor.dim %arg1, %c1
// CHECK:         %[[OLD:.*]] = tensor.extract_slice %arg1[2, 0] [1, %[[N]]] [1, 1] : tensor<3x?xf32> to tensor<1x?xf32>
// CHECK:         %[[NEW:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[ROW]]]
// CHECK-SAME:      outs(%[[OLD]] : tensor<1x?xf32>)
// CHECK:         %[[ALL:.*]] = tensor.insert_slice %[[NEW]] into %arg1[2, 0] [1, %[[N]]] [1, 1]
// CHECK:         return %[[ALL]]
func.func @row(%x: tensor<?xf32>, %w: tensor<3x?xf32>) -> tensor<3x?xf32> attributes {hir.program} {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (2, i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%w : tensor<3x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x?xf32>
  return %y : tensor<3x?xf32>
}

// -----

// CHECK-LABEL: func.func @diagonal
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%arg1)
// CHECK:         outs(%[[COPY]] : tensor<?x?xf32>)
func.func @diagonal(%x: tensor<?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {hir.program} {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%w : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Those that are written as a whole stay as they are.
// CHECK-LABEL: func.func @whole
// CHECK-NOT:     tensor.extract_slice
// CHECK-NOT:     bufferization.alloc_tensor
// CHECK:         return
func.func @whole(%x: tensor<?xf32>, %w: tensor<1x?xf32>) -> tensor<1x?xf32> attributes {hir.program} {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (0, i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%w : tensor<1x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}

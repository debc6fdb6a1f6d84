// RUN: hirc-opt %s --split-input-file --normalize-tensor-operations --canonicalize --cse --fuse-tensor-operations --canonicalize --cse | FileCheck %s

// A reduction of windows that are read at computed places, or of places alone: an operand that is
// not read has the extent of its loop.

// CHECK-LABEL: func.func @windows(
// CHECK:         %[[WINDOW:.*]] = tensor.empty() : tensor<3xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %[[WINDOW]] : tensor<4x9xf32>, tensor<3xf32>)
// CHECK:           "hir.reduce_loops"(%{{.*}}) {kind = "maximumf", loops = array<i64: 2>}
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @windows(%x: tensor<4x9xf32>) -> tensor<4x4xf32> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x4x3xf32>
  %f = tensor.empty() : tensor<4x4xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(r, c, k) -> (r, c * 2 + k)>, affine_map<(r, c, k) -> (r, c, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x : tensor<4x9xf32>) outs(%e : tensor<4x4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x4x3xf32>
  %z = linalg.fill ins(%least : f32) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.reduce {arith.maximumf} ins(%w : tensor<4x4x3xf32>) outs(%z : tensor<4x4xf32>) dimensions = [2]
  return %y : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @places(
// CHECK:         %[[WINDOW:.*]] = tensor.empty() : tensor<3xf32>
// CHECK:         linalg.generic {{.*}} ins(%arg1, %[[WINDOW]] : tensor<4xindex>, tensor<3xf32>)
// CHECK:           tensor.extract %arg0
// CHECK:           "hir.reduce_loops"
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @places(%x: tensor<9xf32>, %first: tensor<4xindex>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %f = tensor.empty() : tensor<4xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(r, k) -> (r)>, affine_map<(r, k) -> (r, k)>], iterator_types = ["parallel", "parallel"]}
    ins(%first : tensor<4xindex>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: index, %o: f32):
    %k = linalg.index 1 : index
    %at = arith.addi %a, %k : index
    %v = tensor.extract %x[%at] : tensor<9xf32>
    linalg.yield %v : f32
  } -> tensor<4x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.reduce {arith.addf} ins(%w : tensor<4x3xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %y : tensor<4xf32>
}

// -----

// Not of an open extent.

// CHECK-LABEL: func.func @open(
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x?xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[W]] : tensor<4x4x?xf32>)
func.func @open(%x: tensor<4x?xf32>, %n: index) -> tensor<4x4xf32> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%n) : tensor<4x4x?xf32>
  %f = tensor.empty() : tensor<4x4xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(r, c, k) -> (r, c * 2 + k)>, affine_map<(r, c, k) -> (r, c, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x : tensor<4x?xf32>) outs(%e : tensor<4x4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x4x?xf32>
  %z = linalg.fill ins(%least : f32) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.reduce {arith.maximumf} ins(%w : tensor<4x4x?xf32>) outs(%z : tensor<4x4xf32>) dimensions = [2]
  return %y : tensor<4x4xf32>
}

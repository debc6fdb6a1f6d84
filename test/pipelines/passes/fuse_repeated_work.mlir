// RUN: hirc-opt %s --split-input-file --normalize-tensor-operations --canonicalize --cse --fuse-tensor-operations --canonicalize --cse | FileCheck %s

// Numbers that are made of places alone are made by every kernel that reads them, along whatever
// loop it does.

// CHECK-LABEL: func.func @rows_and_columns(
// CHECK:         linalg.generic {{.*}} ins(%arg0 : tensor<8x8xf32>)
// CHECK:           linalg.index 0
// CHECK:           linalg.index 1
// CHECK-COUNT-2:   arith.sitofp
// CHECK-NOT:     linalg.generic
// CHECK:         return
#id = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>
#each = affine_map<(i) -> (i)>
func.func @rows_and_columns(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %f = tensor.empty() : tensor<8xf32>
  %n = tensor.empty() : tensor<8xi64>
  %half = arith.constant 0.5 : f32
  %place = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel"]} outs(%n : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i64
    linalg.yield %v : i64
  } -> tensor<8xi64>
  %number = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
    ins(%place : tensor<8xi64>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: i64, %o: f32):
    %v = arith.sitofp %a : i64 to f32
    %w = arith.mulf %v, %half : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #rows, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %number, %number : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    %w = arith.addf %v, %c : f32
    linalg.yield %w : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @two_kernels(
// CHECK:         linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf32>)
// CHECK:           linalg.index 1
// CHECK:         linalg.generic {{.*}} ins(%arg1 : tensor<5x8xf32>)
// CHECK:           linalg.index 1
// CHECK-NOT:     linalg.generic
// CHECK:         return
#id = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>
#each = affine_map<(i) -> (i)>
func.func @two_kernels(%x: tensor<4x8xf32>, %z: tensor<5x8xf32>) -> (tensor<4x8xf32>, tensor<5x8xf32>) {
  %f = tensor.empty() : tensor<8xf32>
  %n = tensor.empty() : tensor<8xi64>
  %half = arith.constant 0.5 : f32
  %place = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel"]} outs(%n : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i64
    linalg.yield %v : i64
  } -> tensor<8xi64>
  %number = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
    ins(%place : tensor<8xi64>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: i64, %o: f32):
    %v = arith.sitofp %a : i64 to f32
    %w = arith.mulf %v, %half : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  %ep = tensor.empty() : tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %number : tensor<4x8xf32>, tensor<8xf32>) outs(%ep : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %eq = tensor.empty() : tensor<5x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%z, %number : tensor<5x8xf32>, tensor<8xf32>) outs(%eq : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<5x8xf32>
  return %p, %q : tensor<4x8xf32>, tensor<5x8xf32>
}

// -----

// What takes several instructions is made once, and so is what the program returns.

// CHECK-LABEL: func.func @divided(
// CHECK:         %[[N:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>)
// CHECK:           arith.divf
// CHECK:         linalg.generic {{.*}} ins(%arg0, %[[N]] :
// CHECK:         linalg.generic {{.*}} ins(%arg1, %[[N]] :
#id = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>
#each = affine_map<(i) -> (i)>
func.func @divided(%x: tensor<4x8xf32>, %z: tensor<5x8xf32>) -> (tensor<4x8xf32>, tensor<5x8xf32>) {
  %f = tensor.empty() : tensor<8xf32>
  %n = tensor.empty() : tensor<8xi64>
  %half = arith.constant 0.5 : f32
  %place = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel"]} outs(%n : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i64
    linalg.yield %v : i64
  } -> tensor<8xi64>
  %number = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
    ins(%place : tensor<8xi64>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: i64, %o: f32):
    %v = arith.sitofp %a : i64 to f32
    %w = arith.divf %half, %v : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  %ep = tensor.empty() : tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %number : tensor<4x8xf32>, tensor<8xf32>) outs(%ep : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %eq = tensor.empty() : tensor<5x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%z, %number : tensor<5x8xf32>, tensor<8xf32>) outs(%eq : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<5x8xf32>
  return %p, %q : tensor<4x8xf32>, tensor<5x8xf32>
}

// -----

// CHECK-LABEL: func.func @returned(
// CHECK:         %[[N:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>)
// CHECK:         linalg.generic {{.*}} ins(%arg0, %[[N]] :
// CHECK:         linalg.generic {{.*}} ins(%arg1, %[[N]] :
// CHECK:         return %{{.*}}, %{{.*}}, %[[N]]
#id = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>
#each = affine_map<(i) -> (i)>
func.func @returned(%x: tensor<4x8xf32>, %z: tensor<5x8xf32>) -> (tensor<4x8xf32>, tensor<5x8xf32>, tensor<8xf32>) {
  %f = tensor.empty() : tensor<8xf32>
  %n = tensor.empty() : tensor<8xi64>
  %half = arith.constant 0.5 : f32
  %place = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel"]} outs(%n : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i64
    linalg.yield %v : i64
  } -> tensor<8xi64>
  %number = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
    ins(%place : tensor<8xi64>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: i64, %o: f32):
    %v = arith.sitofp %a : i64 to f32
    %w = arith.mulf %v, %half : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  %ep = tensor.empty() : tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %number : tensor<4x8xf32>, tensor<8xf32>) outs(%ep : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %eq = tensor.empty() : tensor<5x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%z, %number : tensor<5x8xf32>, tensor<8xf32>) outs(%eq : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<5x8xf32>
  return %p, %q, %number : tensor<4x8xf32>, tensor<5x8xf32>, tensor<8xf32>
}

// -----

// Numbers of a row that two kernels read as others are cast in both.

// CHECK-LABEL: func.func @cast_in_both(
// CHECK:         linalg.generic {{.*}} ins(%arg2, %arg0 : tensor<8xbf16>, tensor<4x8xf32>)
// CHECK:           arith.extf
// CHECK:         linalg.generic {{.*}} ins(%arg2, %arg1 : tensor<8xbf16>, tensor<5x8xf32>)
// CHECK:           arith.extf
// CHECK-NOT:     linalg.generic
// CHECK:         return
#id = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>
#each = affine_map<(i) -> (i)>
func.func @cast_in_both(%x: tensor<4x8xf32>, %z: tensor<5x8xf32>, %bias: tensor<8xbf16>) -> (tensor<4x8xf32>, tensor<5x8xf32>) {
  %f = tensor.empty() : tensor<8xf32>
  %number = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
    ins(%bias : tensor<8xbf16>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %v = arith.extf %a : bf16 to f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %ep = tensor.empty() : tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %number : tensor<4x8xf32>, tensor<8xf32>) outs(%ep : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %eq = tensor.empty() : tensor<5x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%z, %number : tensor<5x8xf32>, tensor<8xf32>) outs(%eq : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<5x8xf32>
  return %p, %q : tensor<4x8xf32>, tensor<5x8xf32>
}

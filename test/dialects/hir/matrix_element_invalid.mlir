// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%i: index) {
  // expected-error @below {{hir.matrix_element stands in the region of a linalg.generic}}
  %m = "hir.matrix_element"(%i, %i) {matrix = dense<1.0> : tensor<2x3xf32>} : (index, index) -> f32
  return
}

// -----

func.func @case(%y: memref<2xf32>) {
  linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      outs(%y : memref<2xf32>) {
  ^bb0(%b: f32):
    %a = linalg.index 0 : index
    // expected-error @below {{hir.matrix_element 'matrix' is a dense matrix of floats, not dense<1.000000e+00> : tensor<2xf32>}}
    %m = "hir.matrix_element"(%a, %a) {matrix = dense<1.0> : tensor<2xf32>} : (index, index) -> f32
    linalg.yield %m : f32
  }
  return
}

// -----

func.func @case(%y: memref<2xf32>) {
  linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      outs(%y : memref<2xf32>) {
  ^bb0(%b: f32):
    %a = linalg.index 0 : index
    // expected-error @below {{hir.matrix_element 'matrix' is a dense matrix of floats, not dense<1> : tensor<2x2xi32>}}
    %m = "hir.matrix_element"(%a, %a) {matrix = dense<1> : tensor<2x2xi32>} : (index, index) -> i32
    linalg.yield %b : f32
  }
  return
}

// -----

func.func @case(%y: memref<2xf32>) {
  linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      outs(%y : memref<2xf32>) {
  ^bb0(%b: f32):
    %a = linalg.index 0 : index
    %c = arith.constant 0 : i64
    // expected-error @below {{hir.matrix_element takes the row and the column, of type index}}
    %m = "hir.matrix_element"(%a, %c) {matrix = dense<1.0> : tensor<2x2xf32>} : (index, i64) -> f32
    linalg.yield %m : f32
  }
  return
}

// -----

func.func @case(%y: memref<2xf32>) {
  linalg.generic {indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      outs(%y : memref<2xf32>) {
  ^bb0(%b: f32):
    %a = linalg.index 0 : index
    // expected-error @below {{hir.matrix_element of this operand gives f32, not f64}}
    %m = "hir.matrix_element"(%a, %a) {matrix = dense<1.0> : tensor<2x2xf32>} : (index, index) -> f64
    linalg.yield %b : f32
  }
  return
}

// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p check-tensor-operations

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {hir.program} {
  // expected-error @+1 {{tm_tensor.sort on tensors has no kernel: of torch-mlir's own operations only scan, scatter and sort have kernels}}
  %y = tm_tensor.sort dimension(1) outs(%x : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %is_before = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %is_before : i1
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @main(%x: tensor<4x8xf32>, %places: tensor<3x1xi64>) -> tensor<3x1x8xf32> attributes {hir.program} {
  // expected-error @+1 {{tensor.gather on tensors has no kernel: use a linalg.generic with tensor.extract in its region}}
  %y = tensor.gather %x[%places] gather_dims([0]) : (tensor<4x8xf32>, tensor<3x1xi64>) -> tensor<3x1x8xf32>
  return %y : tensor<3x1x8xf32>
}

// -----

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xi32> attributes {hir.program} {
  // expected-error @+1 {{tensor.bitcast on tensors has no kernel: use a linalg.generic with arith.bitcast in its region}}
  %y = tensor.bitcast %x : tensor<4x8xf32> to tensor<4x8xi32>
  return %y : tensor<4x8xi32>
}

// -----

func.func @main(%x: tensor<4x8xf32>, %places: tensor<3x1xi64>, %row: tensor<3x8xf32>) -> tensor<4x8xf32> attributes {hir.program} {
  // expected-error @+1 {{tensor.scatter on tensors has no kernel: use an scf.for with tensor.insert_slice in it}}
  %y = tensor.scatter %row into %x[%places] scatter_dims([0]) unique : (tensor<3x8xf32>, tensor<4x8xf32>, tensor<3x1xi64>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {hir.program} {
  // expected-error @+1 {{tosa.abs on tensors has no kernel: lower it to linalg before (tosa-to-linalg-named, then tosa-to-linalg)}}
  %y = tosa.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> attributes {hir.program} {
  // expected-error @+1 {{builtin.unrealized_conversion_cast on tensors has no kernel: write it as linalg.generic}}
  %y = builtin.unrealized_conversion_cast %x : tensor<*xf32> to tensor<*xf32>
  return %y : tensor<*xf32>
}

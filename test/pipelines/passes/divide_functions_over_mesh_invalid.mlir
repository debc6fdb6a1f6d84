// RUN: hirc-opt %s --split-input-file --divide-functions-over-mesh --verify-diagnostics

// expected-error @below {{'hir.mesh' is the sizes of its axes, as array<i64: 2, 4>; it is 2 : i64}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hir.mesh = 2} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'hir.spread' of argument 0 is ["axis:1"]: the buffer has 1 dims, numbered from 0}}
func.func @main(%x: tensor<4xf32> {hir.spread = ["axis:1"]}) -> tensor<4xf32>
    attributes {hir.mesh = array<i64: 2>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'hir.spread' of result 0 is ["axis:0", "axis:0"]: 6 devices do not divide 4 elements evenly, as several axes of the mesh have to; divide it by one, or leave it whole}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {hir.spread = ["axis:0", "axis:0"]})
    attributes {hir.mesh = array<i64: 3, 2>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'hir.spread' of argument 0, which is state: 3 devices do not divide 4 elements evenly; leave it whole}}
func.func @main(%s: tensor<4xf32> {hirc.state = "s", hir.spread = ["axis:0"]}) -> tensor<4xf32>
    attributes {hir.mesh = array<i64: 3>} {
  return %s : tensor<4xf32>
}

// -----

// expected-error @below {{'hir.spread' of argument 0 is ["axis:0"]: it is for tensors; index is whole on every device}}
func.func @main(%n: index {hir.spread = ["axis:0"]}, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {hir.mesh = array<i64: 2>} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'hir.spread' of argument 0, which is state: it is divided or whole}}
func.func @main(%s: tensor<4xf32> {hirc.state = "s", hir.spread = ["partial:sum"]}) -> tensor<4xf32>
    attributes {hir.mesh = array<i64: 2>} {
  return %s : tensor<4xf32>
}

// -----

// expected-error @below {{'hir.spread' of result 0, which updates argument 0, and is as that is}}
func.func @main(%s: tensor<4xf32> {hirc.state = "s", hir.spread = ["axis:0"]})
    -> (tensor<4xf32> {hirc.updates = 0, hir.spread = ["whole"]}) attributes {hir.mesh = array<i64: 2>} {
  return %s : tensor<4xf32>
}

// -----

func.func @inner(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hir.mesh = array<i64: 2>} {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{a function over a mesh is run by itself, not called by another}}
  %y = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

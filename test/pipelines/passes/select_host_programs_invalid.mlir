// RUN: hirc-opt %s -p select-host-programs --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{@main calls itself (@main -> @main); programs do not recurse}}
  %y = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @h(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @h(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{@g calls itself (@g -> @h -> @g)}}
  %y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Called twice, and by two ways, is no recursion.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @h(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %w = func.call @h(%z) : (tensor<4xf32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @h(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @h(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func private @g(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{@g is no host program}}
  %y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 of @main is memref<4xf32, 3>, which has a memory space}}
func.func @main(%x: memref<4xf32, 3>) {
  return
}

// -----

// expected-error @below {{which has a layout that is not strided}}
func.func @main(%x: memref<4x4xf32, affine_map<(d0, d1) -> (d0 mod 2, d1)>>) {
  return
}

// -----

// expected-error @below {{argument 1 of @main is memref<*xf32>, of open rank}}
func.func @main(%x: memref<4xf32>, %y: memref<*xf32>) {
  return
}

// RUN: hirc-opt %s --split-input-file -p lay-out-weights --verify-diagnostics

// expected-error @below {{weight 'w' is tensor<?xf32>: the sizes of weights are fixed}}
func.func @main(%w: tensor<?xf32> {hirc.weight = "w"}) -> tensor<?xf32> {
  return %w : tensor<?xf32>
}

// -----

// expected-error @below {{weight 'w' is f32: weights are buffers}}
func.func @main(%w: f32 {hirc.weight = "w"}, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{hirc.weight of argument 0 is the weight's name, a string}}
func.func @main(%w: tensor<4xf32> {hirc.weight}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{hirc.weight of argument 0 is the weight's name, a string}}
func.func @main(%w: tensor<4xf32> {hirc.weight = ""}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{arguments 0 and 1 are both the weight 'w'; one is enough}}
func.func @main(%w: tensor<4xf32> {hirc.weight = "w"}, %v: tensor<4xf32> {hirc.weight = "w"})
    -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

func.func @main(%w: tensor<4xf32> {hirc.weight = "w"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
// expected-error @below {{weight 'w' is F64 [4] here and F32 [4] elsewhere: weights of one name are one}}
func.func @other(%w: tensor<4xf64> {hirc.weight = "w"}) -> tensor<4xf64> {
  return %w : tensor<4xf64>
}

// -----

// expected-error @below {{weight 'w' is tensor<4xcomplex<f64>>: no safetensors file holds complex<f64>}}
func.func @main(%w: tensor<4xcomplex<f64>> {hirc.weight = "w"}) -> tensor<4xcomplex<f64>> {
  return %w : tensor<4xcomplex<f64>>
}

// -----

// expected-error @below {{@helper is private, and its argument 0 cannot be weight 'w': give the public function that calls it the weight}}
func.func private @helper(%w: tensor<4xf32> {hirc.weight = "w"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{@kernel is no function on tensors, and argument 0 cannot be weight 'w'}}
func.func @kernel(%w: memref<4xf32> {hirc.weight = "w"}) {
  return
}

// -----

// expected-error @below {{argument 0 is hirc.weight and hirc.state: what a program writes is state}}
func.func @main(%w: tensor<4xf32> {hirc.weight = "w", hirc.state = "w"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{hirc.zero_init of argument 0, which is no hirc.state}}
func.func @main(%w: tensor<4xf32> {hirc.zero_init}, %v: tensor<4xf32> {hirc.weight = "v"})
    -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{state 's' is tensor<?xf32>: the sizes of state are fixed}}
func.func @main(%s: tensor<?xf32> {hirc.state = "s"}) -> tensor<?xf32> {
  return %s : tensor<?xf32>
}

// -----

func.func @one(%s: tensor<4xf32> {hirc.state = "s"}) -> tensor<4xf32> {
  return %s : tensor<4xf32>
}
// expected-error @below {{state 's' is state that begins as zeros, F32 [4] here and state, F32 [4] elsewhere}}
func.func @other(%s: tensor<4xf32> {hirc.state = "s", hirc.zero_init}) -> tensor<4xf32> {
  return %s : tensor<4xf32>
}

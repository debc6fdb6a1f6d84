// RUN: hirc-opt %s --split-input-file -p select-host-programs --verify-diagnostics

// expected-error @below {{hirc.updates of result 0 is the number of an argument, from 0 to 0, not 1 : i64}}
func.func @number(%a: tensor<4xf32>) -> (tensor<4xf32> {hirc.updates = 1}) {
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{hirc.updates of result 0: argument 0 is tensor<4xf32>, and cannot become tensor<3xf32>}}
func.func @sizes(%a: tensor<4xf32>, %b: tensor<3xf32>) -> (tensor<3xf32> {hirc.updates = 0}) {
  return %b : tensor<3xf32>
}

// -----

// expected-error @below {{argument 0 is a weight, which is read only: use hirc.state}}
func.func @weight(%a: tensor<4xf32> {hirc.weight = "a"}, %b: tensor<4xf32>)
    -> (tensor<4xf32> {hirc.updates = 0}) {
  return %b : tensor<4xf32>
}

// -----

// expected-error @below {{results 0 and 1 both update argument 0}}
func.func @twice(%a: tensor<4xf32>)
    -> (tensor<4xf32> {hirc.updates = 0}, tensor<4xf32> {hirc.updates = 0}) {
  return %a, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{@private is no public function on tensors, and its results cannot be hirc.updates}}
func.func private @private(%a: tensor<4xf32>) -> (tensor<4xf32> {hirc.updates = 0}) {
  return %a : tensor<4xf32>
}

// -----

func.func @callee(%a: tensor<4xf32>) -> (tensor<4xf32> {hirc.updates = 0}) {
  return %a : tensor<4xf32>
}
func.func @caller(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{@callee updates its arguments in place, and is called from outside alone}}
  %b = call @callee(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// expected-error @below {{hirc.updates of result 0: argument 0 is f32, and what updates it f32: no tensors}}
func.func @scalar(%a: f32, %x: tensor<4xf32>) -> (f32 {hirc.updates = 0}, tensor<4xf32>) {
  return %a, %x : f32, tensor<4xf32>
}

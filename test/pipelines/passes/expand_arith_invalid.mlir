// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'expand-arith'

func.func @from_wide_integer(%a: i128) -> f64 {
  // expected-error @below {{'arith.uitofp' cannot be lowered for NVPTX with integers of type i128}}
  %r = arith.uitofp %a : i128 to f64
  return %r : f64
}

// -----

func.func @to_wide_integer(%a: vector<4xf32>) -> vector<4xi65> {
  // expected-error @below {{'arith.fptosi' cannot be lowered for NVPTX with integers of type i65}}
  %r = arith.fptosi %a : vector<4xf32> to vector<4xi65>
  return %r : vector<4xi65>
}

// RUN: hirc-opt %s --verify-diagnostics -p 'expand-small-floats'

func.func @rounding(%x: f32) -> f8E5M2 {
  // expected-error @below {{'arith.truncf' to an 8-bit float can only round to the nearest}}
  %r = arith.truncf %x upward : f32 to f8E5M2
  return %r : f8E5M2
}

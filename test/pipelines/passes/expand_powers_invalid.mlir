// RUN: hirc-opt %s --verify-diagnostics -p 'expand-powers'

func.func @wide_exponent(%x: f64, %n: i128) -> f64 {
  // expected-error @below {{the exponent of 'math.fpowi' may have at most 64 bits, this is i128}}
  %r = math.fpowi %x, %n : f64, i128
  return %r : f64
}

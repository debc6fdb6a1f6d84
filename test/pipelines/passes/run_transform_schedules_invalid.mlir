// RUN: hirc-opt %s --run-transform-schedules --split-input-file --verify-diagnostics

module attributes {transform.with_named_sequence} {
  // expected-note @+1 {{target op}}
  func.func @payload(%m: memref<8xf32>, %f: f32) {
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %function = transform.structured.match ops{["func.func"]} in %root
        : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{only ops implementing TilingInterface are supported}}
    %tiled, %loop = transform.structured.tile_using_for %function tile_sizes [4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  // expected-error @+1 {{no named sequence is called '__transform_main', and others are run by what it includes}}
  transform.named_sequence @other(%root: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}

// RUN: hirc-opt %s --run-transform-schedules --split-input-file | FileCheck %s
// RUN: hirc-opt %s --run-transform-schedules --erase-transform-schedules --split-input-file | FileCheck %s --check-prefix=ERASED

// ERASED-NOT: transform

// CHECK-LABEL: func.func @of_a_module_inside
// CHECK:         scf.for
// CHECK:           linalg.fill
// CHECK:       transform.named_sequence @__transform_main
// ERASED-LABEL: func.func @of_a_module_inside
func.func @of_a_module_inside(%m: memref<8xf32>, %f: f32) {
  linalg.fill ins(%f : f32) outs(%m : memref<8xf32>)
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @tile(%fill: !transform.any_op {transform.consumed}) {
    %tiled, %loop = transform.structured.tile_using_for %fill tile_sizes [4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %fill = transform.structured.match ops{["linalg.fill"]} in %root
        : (!transform.any_op) -> !transform.any_op
    transform.include @tile failures(propagate) (%fill) : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @beside_it
// CHECK:         scf.for
// ERASED-LABEL: func.func @beside_it
module attributes {transform.with_named_sequence} {
  func.func @beside_it(%m: memref<8xf32>, %f: f32) {
    linalg.fill ins(%f : f32) outs(%m : memref<8xf32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %fill = transform.structured.match ops{["linalg.fill"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %fill tile_sizes [4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Sequences at top level run one after the other.
// CHECK-LABEL: func.func @of_sequences
// CHECK:         scf.for
// CHECK:           scf.for
// ERASED-LABEL: func.func @of_sequences
transform.sequence failures(propagate) {
^bb0(%root: !transform.any_op):
  %fill = transform.structured.match ops{["linalg.fill"]} in %root
      : (!transform.any_op) -> !transform.any_op
  %tiled, %loop = transform.structured.tile_using_for %fill tile_sizes [4]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
}
func.func @of_sequences(%m: memref<8xf32>, %f: f32) {
  linalg.fill ins(%f : f32) outs(%m : memref<8xf32>)
  return
}
transform.sequence failures(propagate) {
^bb0(%root: !transform.any_op):
  %fill = transform.structured.match ops{["linalg.fill"]} in %root
      : (!transform.any_op) -> !transform.any_op
  %tiled, %loop = transform.structured.tile_using_for %fill tile_sizes [2]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
}

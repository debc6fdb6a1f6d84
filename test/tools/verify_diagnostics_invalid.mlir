// RUN: not hirc-opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s

// CHECK:      verify_diagnostics_invalid.mlir:[[# @LINE + 3]]:1: error: unexpected error: use of undeclared SSA value name
// CHECK-NEXT:   %0 = arith.addi
func.func @unexpected(%n: i32) {
  %0 = arith.addi %n, %m : i32
  return
}

// -----

// CHECK:      verify_diagnostics_invalid.mlir:[[# @LINE + 1]]:1: error: expected error was not reported: nothing is wrong
// expected-error @below {{nothing is wrong}}
func.func @missing() {
  return
}

// -----

// The severity and the line count too.
// CHECK: error: unexpected error: use of undeclared SSA value name
// CHECK: error: expected warning was not reported: undeclared SSA value
// CHECK: error: expected error was not reported: undeclared SSA value
func.func @other(%n: i32) {
  // expected-warning @below {{undeclared SSA value}}
  %0 = arith.addi %n, %m : i32
  // expected-error @below {{undeclared SSA value}}
  return
}

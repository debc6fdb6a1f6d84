// RUN: not hirc-opt %s --verify-diagnostics 2>&1 | FileCheck %s

// CHECK:      verify_diagnostics_malformed.mlir:[[# @LINE + 2]]:4: error: malformed expected-diagnostic annotation
// CHECK:      hint: for example
// expected-error @beneath {{text}}
func.func @f() {
  return
}

// Input from standard input, bytecode in and out, and the forms of text.
// RUN: hirc-opt < %s | FileCheck %s
// RUN: hirc-opt - -o - < %s | FileCheck %s
// RUN: hirc-opt %s --emit-bytecode -o %t.bc && hirc-opt %t.bc --split-input-file | FileCheck %s
// RUN: hirc-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: hirc-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=DEBUG
// RUN: not hirc-opt %s --split-input-file 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: hirc-opt %s --cse --canonicalize --print-ir-after=canonicalize -o %t 2>&1 | FileCheck %s --check-prefix=AFTER

// CHECK:      func.func @f(
// CHECK-NEXT:   arith.addi
// CHECK:      func.func @g(

// GENERIC: "func.func"()
// GENERIC:   "arith.addi"(%{{.*}}, %{{.*}}) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32

// DEBUG-DAG: #[[LINE:loc[0-9]*]] = loc("{{.*}}hirc_opt_output.mlir":[[# @LINE + 11]]:8)
// DEBUG-DAG: arith.addi %{{.*}} : i32 loc(#[[LINE]])

// A part alone has the file's line numbers.
// SPLIT: hirc_opt_output.mlir:[[# @LINE + 12]]:8: error: 'func.call' op 'f' does not reference a valid function
// SPLIT-NEXT: %0 = func.call

// AFTER-NOT: cse
// AFTER:     // ----- IR after canonicalize -----
// AFTER-NEXT: module
func.func @f(%n: i32) -> i32 {
  %0 = arith.addi %n, %n : i32
  return %0 : i32
}
// -----
func.func @g(%n: i32) -> i32 {
  %0 = func.call @f(%n) : (i32) -> i32
  return %0 : i32
}

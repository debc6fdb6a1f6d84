// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK:      verifier.mlir:[[# @LINE + 5]]:8: error: 'arith.addi' op requires the same type for all operands and results
// CHECK-NEXT:     %0 = "arith.addi"(%n, %n) : (i32, i32) -> i64
// CHECK-NEXT:          ^
// CHECK-NEXT: in stage 'parse'
func.func @main(%n: i32) {
  %0 = "arith.addi"(%n, %n) : (i32, i32) -> i64
  return
}

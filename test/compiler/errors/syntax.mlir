// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK:      syntax.mlir:[[# @LINE + 6]]:25: error: expected ':'
// CHECK-NEXT:     %0 = arith.addi %n, %n i32
// CHECK-NEXT: {{^}}                            ^
// CHECK-NEXT: in stage 'parse'
// CHECK-NOT:  {{.}}
func.func @main(%n: i32) {
  %0 = arith.addi %n, %n i32
  return
}

// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: unknown_operation.mlir:[[# @LINE + 3]]:12: error: operation of a dialect that hirc does not know
// CHECK-NEXT: "mine.op"() : () -> ()
func.func @main() {
  "mine.op"() : () -> ()
  return
}

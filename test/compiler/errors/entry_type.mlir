// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 --entry=start -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: entry_type.mlir:[[# @LINE + 4]]:1: error: the entry 'start' takes or returns vector<4xf32>, which a command cannot pass: buffers of known rank and scalars can be. Wrap it in a function that does, or build with --emit=shared or --emit=object
// CHECK-NEXT: func.func @start
// CHECK-NEXT: ^
// CHECK-NEXT: stage 'interface'
func.func @start(%m: vector<4xf32>) {
  return
}

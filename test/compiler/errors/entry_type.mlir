// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 --entry=start -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: entry_type.mlir:[[# @LINE + 4]]:1: error: the entry 'start' has type (memref<4xf32>) -> (); an executable's entry takes nothing and returns nothing or i32. Wrap it in a function that does, or build with --emit=shared or --emit=object
// CHECK-NEXT: func.func @start
// CHECK-NEXT: ^
// CHECK-NEXT: stage 'kernels'
func.func @start(%m: memref<4xf32>) {
  return
}

// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: missing_entry.mlir:1:1: error: no input defines the entry 'main' that the executable would run
// CHECK: stage 'link'
func.func @start() {
  return
}

// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: error: symbol 'main' is defined twice
// CHECK: stage 'link'
// CHECK: hint: make one of the functions private, or rename it
func.func @main() {
  return
}

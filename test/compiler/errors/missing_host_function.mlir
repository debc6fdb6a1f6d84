// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: missing_host_function.mlir:[[# @LINE + 6]]:3: error: function 'elsewhere' is called and defined nowhere
// CHECK-NEXT: call @elsewhere
// CHECK: stage 'link'
// CHECK: hint: give the object, archive or library that has it (-l, -L), or define it
func.func private @elsewhere()
func.func @main() {
  call @elsewhere() : () -> ()
  return
}

// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --offload-arch=sm_90 -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// A tensor on the host: nothing makes a buffer of it.
// CHECK: host_operation.mlir:[[# @LINE + 6]]:8: error: 'tensor.empty' is left after stage 'host': nothing lowers it
// CHECK: %0 = tensor.empty() : tensor<4xf32>
// CHECK: stage 'host'
// CHECK: hint: tensors are compiled in functions that take or return some: give the function such an argument
func.func @main() {
  %c = arith.constant 0 : index
  %0 = tensor.empty() : tensor<4xf32>
  %1 = tensor.extract %0[%c] : tensor<4xf32>
  vector.print %1 : f32
  return
}

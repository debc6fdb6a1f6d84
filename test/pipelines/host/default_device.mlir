// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// CHECK-LABEL: func.func @choose(
// CHECK-SAME:      %[[DEVICE:.*]]: i32)
// CHECK:         %[[CODE:.*]] = llvm.call @cudaSetDevice(%[[DEVICE]]) : (i32) -> i32
// CHECK:         llvm.call @hirc_check(%[[CODE]],
func.func @choose(%device: i32) {
  gpu.set_default_device %device
  return
}

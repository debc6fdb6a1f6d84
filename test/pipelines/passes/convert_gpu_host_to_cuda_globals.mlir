// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// A global's memory space goes, as that of its users does.
// CHECK: memref.global "private" @table : memref<4xf32> = dense<0.0
memref.global "private" @table : memref<4xf32, 1> = dense<0.0>

// CHECK-LABEL: func.func @read() -> memref<4xf32>
// CHECK:         memref.get_global @table : memref<4xf32>
func.func @read() -> memref<4xf32, 1> {
  %0 = memref.get_global @table : memref<4xf32, 1>
  return %0 : memref<4xf32, 1>
}

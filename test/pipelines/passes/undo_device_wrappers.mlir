// RUN: hirc-opt %s -p 'gpu.module(convert-gpu-to-nvvm,undo-device-wrappers)' | FileCheck %s

// CHECK-LABEL: gpu.module @m
// CHECK-NOT:     _mlir_ciface
// CHECK:         llvm.func @scalar(f32) -> f32
// CHECK-NOT:     _mlir_ciface
// CHECK:         llvm.func @buffer(!llvm.ptr, !llvm.ptr, i64, i64, i64)
// CHECK-NOT:     _mlir_ciface
// CHECK:         llvm.func @defined(%{{.*}}: f32) -> f32
// CHECK-NOT:     _mlir_ciface
// CHECK:           llvm.call @scalar(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.func @k(
// CHECK:           llvm.call @defined
// CHECK:           llvm.call @buffer
// CHECK-NOT:     _mlir_ciface
gpu.module @m {
  func.func private @scalar(f32) -> f32
  func.func private @buffer(memref<?xf32>)
  func.func @defined(%x: f32) -> f32 {
    %0 = func.call @scalar(%x) : (f32) -> f32
    return %0 : f32
  }
  gpu.func @k(%x: f32, %m: memref<?xf32>) kernel {
    %0 = func.call @defined(%x) : (f32) -> f32
    func.call @buffer(%m) : (memref<?xf32>) -> ()
    gpu.return
  }
}

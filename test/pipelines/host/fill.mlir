// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// CHECK-LABEL: func.func @zero(
// CHECK:         %[[DEFAULT:.*]] = llvm.mlir.zero
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
// CHECK:         %[[BYTE:.*]] = llvm.mlir.constant(0 : i32)
// CHECK:         llvm.call @hirc_fill_bytes(%{{.*}}, %[[BYTE]], %[[BYTES]], %[[DEFAULT]], %{{.*}}) : (!llvm.ptr, i32, i64, !llvm.ptr, !llvm.ptr) -> ()
// CHECK:         llvm.call @cudaStreamSynchronize(%[[DEFAULT]])
func.func @zero(%m: memref<4xf64>) {
  %0 = arith.constant 0.0 : f64
  gpu.memset %m, %0 : memref<4xf64>, f64
  return
}

// CHECK-LABEL: func.func @ones(
// CHECK-SAME:      %[[STREAM:[a-z0-9]+]]: !llvm.ptr) -> !llvm.ptr
// CHECK:         %[[BYTES:.*]] = llvm.mul
// CHECK:         %[[BYTE:.*]] = llvm.mlir.constant(255 : i32)
// CHECK:         llvm.call @hirc_fill_bytes(%{{.*}}, %[[BYTE]], %[[BYTES]], %[[STREAM]], %{{.*}})
// CHECK-NOT:     cudaStreamSynchronize
// CHECK:         return %[[STREAM]]
func.func @ones(%m: memref<?xi32>, %t: !gpu.async.token) -> !gpu.async.token {
  %0 = arith.constant -1 : i32
  %1 = gpu.memset async [%t] %m, %0 : memref<?xi32>, i32
  return %1 : !gpu.async.token
}

// CHECK-LABEL: func.func @truth(
// CHECK:         llvm.mlir.constant(1 : i32)
// CHECK:         llvm.call @hirc_fill_bytes
// CHECK:         llvm.mlir.constant(171 : i32)
// CHECK:         llvm.call @hirc_fill_bytes
// CHECK:         llvm.mlir.constant(0 : i32)
// CHECK:         llvm.call @hirc_fill_bytes
func.func @truth(%a: memref<4xi1>, %b: memref<4xi16>, %c: memref<index>) {
  %0 = arith.constant true
  %1 = arith.constant 0xABAB : i16
  %2 = arith.constant 0 : index
  gpu.memset %a, %0 : memref<4xi1>, i1
  gpu.memset %b, %1 : memref<4xi16>, i16
  gpu.memset %c, %2 : memref<index>, index
  return
}

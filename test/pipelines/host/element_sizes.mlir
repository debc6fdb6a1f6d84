// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// Memory is as large as LLVM's layout of the lowered elements, by which kernels address it: a
// vector is an array of rows, each padded to a power of two of bytes; eight i1 take one byte.

// CHECK-LABEL: func.func @rows(
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(160 : i64)
// CHECK:         llvm.call @cudaMallocAsync(%{{.*}}, %[[BYTES]],
func.func @rows() -> memref<2xvector<5x3xf32>> {
  %0 = gpu.alloc () : memref<2xvector<5x3xf32>>
  return %0 : memref<2xvector<5x3xf32>>
}

// CHECK-LABEL: func.func @copies(
// CHECK:         %[[ROWS:.*]] = llvm.mlir.constant(96 : i64)
// CHECK:         llvm.call @hirc_copy_bytes(%{{[0-9]+}}, %{{[0-9]+}}, %[[ROWS]],
// CHECK:         %[[ROW:.*]] = llvm.mlir.constant(16 : i64)
// CHECK:         llvm.call @hirc_copy_bytes(%{{[0-9]+}}, %{{[0-9]+}}, %[[ROW]],
// CHECK:         %[[FLAGS:.*]] = llvm.mlir.constant(4 : i64)
// CHECK:         llvm.call @hirc_copy_bytes(%{{[0-9]+}}, %{{[0-9]+}}, %[[FLAGS]],
// CHECK:         %[[FLAG_ROWS:.*]] = llvm.mlir.constant(48 : i64)
// CHECK:         llvm.call @hirc_copy_bytes(%{{[0-9]+}}, %{{[0-9]+}}, %[[FLAG_ROWS]],
// CHECK:         %[[INDICES:.*]] = llvm.mlir.constant(64 : i64)
// CHECK:         llvm.call @hirc_copy_bytes(%{{[0-9]+}}, %{{[0-9]+}}, %[[INDICES]],
// CHECK:         %[[WIDE:.*]] = llvm.mlir.constant(32 : i64)
// CHECK:         llvm.call @hirc_copy_bytes(%{{[0-9]+}}, %{{[0-9]+}}, %[[WIDE]],
func.func @copies(
    %rows: memref<2xvector<3x3xf32>>, %row: memref<2xvector<3xf16>>,
    %flags: memref<2x2xvector<8xi1>>, %flag_rows: memref<2xvector<3x33xi1>>, %indices: memref<2xvector<3xindex>>,
    %wide: memref<2xf128>) {
  gpu.memcpy %rows, %rows : memref<2xvector<3x3xf32>>, memref<2xvector<3x3xf32>>
  gpu.memcpy %row, %row : memref<2xvector<3xf16>>, memref<2xvector<3xf16>>
  gpu.memcpy %flags, %flags : memref<2x2xvector<8xi1>>, memref<2x2xvector<8xi1>>
  gpu.memcpy %flag_rows, %flag_rows : memref<2xvector<3x33xi1>>, memref<2xvector<3x33xi1>>
  gpu.memcpy %indices, %indices : memref<2xvector<3xindex>>, memref<2xvector<3xindex>>
  gpu.memcpy %wide, %wide : memref<2xf128>, memref<2xf128>
  return
}

// An element of 24 bytes is no integer type's size: LLVM would step by 32.
// CHECK-LABEL: func.func @offset(
// CHECK:         llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<24 x i8>
func.func @offset(%to: memref<2xvector<3x33xi1>>, %from: memref<2xvector<3x33xi1>, strided<[1], offset: 5>>) {
  gpu.memcpy %to, %from : memref<2xvector<3x33xi1>>, memref<2xvector<3x33xi1>, strided<[1], offset: 5>>
  return
}

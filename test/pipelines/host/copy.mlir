// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// Both sides packed: one copy, whose direction the runtime finds (4 is cudaMemcpyDefault).
// CHECK-LABEL: func.func @packed(
// CHECK-SAME:      %[[TO:.*]]: memref<4xf32>, %[[FROM:.*]]: memref<4xf32>)
// CHECK:         %[[DEFAULT:.*]] = llvm.mlir.zero
// CHECK:         %[[TO_ALL:.*]] = builtin.unrealized_conversion_cast %[[TO]]
// CHECK:         %[[TO_ADDRESS:.*]] = llvm.extractvalue %[[TO_ALL]][1]
// CHECK:         %[[FROM_ALL:.*]] = builtin.unrealized_conversion_cast %[[FROM]]
// CHECK:         %[[FROM_ADDRESS:.*]] = llvm.extractvalue %[[FROM_ALL]][1]
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(16 : i64)
// CHECK:         llvm.call @hirc_copy_bytes(%[[TO_ADDRESS]], %[[FROM_ADDRESS]], %[[BYTES]], %[[DEFAULT]], %{{.*}})
// CHECK:         llvm.call @cudaStreamSynchronize(%[[DEFAULT]])
func.func @packed(%to: memref<4xf32, 1>, %from: memref<4xf32>) {
  gpu.memcpy %to, %from : memref<4xf32, 1>, memref<4xf32>
  return
}

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:      %[[STREAM:[a-z0-9]+]]: !llvm.ptr) -> !llvm.ptr
// CHECK:         %[[SIZE:.*]] = llvm.extractvalue %{{.*}}[3, 1]
// CHECK:         %[[EACH:.*]] = llvm.mlir.constant(16 : i64)
// CHECK:         %[[BYTES:.*]] = llvm.mul %[[EACH]], %[[SIZE]]
// CHECK:         llvm.call @hirc_copy_bytes(%{{.*}}, %{{.*}}, %[[BYTES]], %[[STREAM]], %{{.*}})
// CHECK-NOT:     cudaStreamSynchronize
// CHECK:         return %[[STREAM]]
func.func @dynamic(%to: memref<4x?xi32>, %from: memref<4x?xi32>, %t: !gpu.async.token) -> !gpu.async.token {
  %0 = gpu.memcpy async [%t] %to, %from : memref<4x?xi32>, memref<4x?xi32>
  return %0 : !gpu.async.token
}

// A packed layout at an offset, and sizes of one whose stride does not matter, are one copy too.
// CHECK-LABEL: func.func @packed_view(
// CHECK:         %[[OFFSET:.*]] = llvm.extractvalue %{{.*}}[2]
// CHECK:         %[[ADDRESS:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, i64
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
// CHECK:         llvm.call @hirc_copy_bytes(%{{.*}}, %[[ADDRESS]], %[[BYTES]],
func.func @packed_view(%to: memref<1x4xf64>, %from: memref<1x4xf64, strided<[99, 1], offset: ?>>) {
  gpu.memcpy %to, %from : memref<1x4xf64>, memref<1x4xf64, strided<[99, 1], offset: ?>>
  return
}

// CHECK-LABEL: func.func @rank_0(
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         llvm.call @hirc_copy_bytes(%{{.*}}, %{{.*}}, %[[BYTES]],
func.func @rank_0(%to: memref<bf16>, %from: memref<bf16>) {
  gpu.memcpy %to, %from : memref<bf16>, memref<bf16>
  return
}

// CHECK-LABEL: func.func @element_kinds(
// CHECK:         llvm.mlir.constant(24 : i64)
// CHECK:         llvm.call @hirc_copy_bytes
// CHECK:         llvm.mlir.constant(24 : i64)
// CHECK:         llvm.call @hirc_copy_bytes
// CHECK:         llvm.mlir.constant(48 : i64)
// CHECK:         llvm.call @hirc_copy_bytes
func.func @element_kinds(%a: memref<3xindex>, %b: memref<3xcomplex<f32>>, %c: memref<3xvector<4xf32>>) {
  gpu.memcpy %a, %a : memref<3xindex>, memref<3xindex>
  gpu.memcpy %b, %b : memref<3xcomplex<f32>>, memref<3xcomplex<f32>>
  gpu.memcpy %c, %c : memref<3xvector<4xf32>>, memref<3xvector<4xf32>>
  return
}

// Any other layout: the support library copies by sizes and by both sides' strides, in elements.
// CHECK-LABEL: func.func @strided(
// CHECK-SAME:      %[[TO:.*]]: memref<4x?xf32>, %[[FROM:.*]]: memref<4x?xf32, strided<[?, 2], offset: 3>>, %[[STREAM:.*]]: !llvm.ptr)
// CHECK-DAG:     %[[TWO_A:.*]] = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK:         %[[OFFSET:.*]] = llvm.extractvalue %{{.*}}[2]
// CHECK:         %[[FROM_ADDRESS:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK:         %[[RANK:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK:         %[[COLUMNS:.*]] = llvm.extractvalue %{{.*}}[3, 1]
// CHECK:         llvm.store %[[FOUR]]
// CHECK:         llvm.store %[[COLUMNS]]
// CHECK:         %[[TO_STRIDE:.*]] = llvm.extractvalue %{{.*}}[4, 0]
// CHECK:         llvm.store %[[TO_STRIDE]]
// CHECK:         %[[FROM_STRIDE:.*]] = llvm.extractvalue %{{.*}}[4, 0]
// CHECK:         %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         llvm.store %[[FROM_STRIDE]]
// CHECK:         llvm.store %[[TWO]]
// CHECK:         %[[EACH:.*]] = llvm.mlir.constant(4 : i64)
// CHECK:         llvm.call @hirc_memcpy_strided(%{{.*}}, %[[FROM_ADDRESS]], %[[RANK]], %{{.*}}, %{{.*}}, %{{.*}}, %[[EACH]], %[[STREAM]], %{{.*}}, %{{.*}})
// CHECK:         return %[[STREAM]]
func.func @strided(%to: memref<4x?xf32>, %from: memref<4x?xf32, strided<[?, 2], offset: 3>, 1>, %t: !gpu.async.token) -> !gpu.async.token {
  %0 = gpu.memcpy async [%t] %to, %from : memref<4x?xf32>, memref<4x?xf32, strided<[?, 2], offset: 3>, 1>
  return %0 : !gpu.async.token
}

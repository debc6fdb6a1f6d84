// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// The descriptor is encoded in an aligned stack slot and loaded as a value.
// CHECK-LABEL: func.func @encode(
// CHECK-SAME:      %[[MATRIX:.*]]: memref<*xf16>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index)
// CHECK:         %[[STEPS:.*]] = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK:         %[[BOX:.*]] = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK:         %[[SLOT:.*]] = llvm.alloca %{{.*}} x !llvm.struct<{{.*}}> {alignment = 64 : i64}
// CHECK:         %[[RANK:.*]] = llvm.extractvalue %{{.*}}[0]
// CHECK:         %[[DESCRIPTOR:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK:         %[[F16:.*]] = llvm.mlir.constant(6 : i32)
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[NO_INTERLEAVE:.*]] = llvm.mlir.constant(0 : i32)
// CHECK:         %[[SWIZZLE_128:.*]] = llvm.mlir.constant(3 : i32)
// CHECK:         %[[PROMOTE_256:.*]] = llvm.mlir.constant(3 : i32)
// CHECK:         %[[NAN:.*]] = llvm.mlir.constant(1 : i32)
// CHECK:         llvm.call @hirc_tensor_map_encode(%[[SLOT]], %[[RANK]], %[[DESCRIPTOR]], %[[F16]], %[[BYTES]], %[[BOX]], %[[STEPS]], %[[NO_INTERLEAVE]], %[[SWIZZLE_128]], %[[PROMOTE_256]], %[[NAN]], %{{.*}})
// CHECK:         llvm.load %[[SLOT]]
func.func @encode(%matrix: memref<*xf16>, %rows: index, %columns: index) {
  %0 = nvgpu.tma.create.descriptor %matrix box[%rows, %columns] : memref<*xf16> -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = nan, interleave = none>
  return
}

// Copies may round f32 to tf32.
// CHECK-LABEL: func.func @rounds(
// CHECK:         %[[TF32:.*]] = llvm.mlir.constant(11 : i32)
// CHECK:         llvm.call @hirc_tensor_map_encode(%{{.*}}, %{{.*}}, %{{.*}}, %[[TF32]], %{{.*}})
func.func @rounds(%matrix: memref<*xf32>, %rows: index, %columns: index) {
  %0 = nvgpu.tma.create.descriptor %matrix box[%rows, %columns] {hir.tf32} : memref<*xf32> -> !nvgpu.tensormap.descriptor<tensor = memref<64x32xf32, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
  return
}

// Copies may take elements that lie some steps apart.
// CHECK-LABEL: func.func @steps(
// CHECK:         %[[STEPS:.*]] = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK:         %[[THREE:.*]] = llvm.mlir.constant(3 : i64)
// CHECK:         %[[FIRST:.*]] = llvm.getelementptr %[[STEPS]][0, 0]
// CHECK-NEXT:    llvm.store %[[THREE]], %[[FIRST]]
// CHECK:         llvm.call @hirc_tensor_map_encode(
func.func @steps(%matrix: memref<*xf16>, %rows: index, %columns: index) {
  %0 = nvgpu.tma.create.descriptor %matrix box[%rows, %columns] {hir.steps = array<i64: 3, 1>} : memref<*xf16> -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_256b, oob = zero, interleave = none>
  return
}

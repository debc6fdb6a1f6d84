// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

module attributes {gpu.container_module} {
llvm.mlir.global internal constant @none_stub(0 : i8) : i8
llvm.mlir.global internal constant @scalars_stub(0 : i8) : i8
llvm.mlir.global internal constant @memrefs_stub(0 : i8) : i8
gpu.module @kernels {
  gpu.func @none() kernel { gpu.return }
  gpu.func @scalars(%a: index, %b: i1, %c: bf16, %d: complex<f32>, %e: vector<4xf32>, %f: vector<2x3xf16>, %g: !llvm.ptr) kernel { gpu.return }
  gpu.func @memrefs(%a: memref<f32>, %b: memref<4x?xi32, strided<[?, 1], offset: ?>, 1>, %c: memref<8xf32>) kernel { gpu.return }
}

// CHECK-LABEL: func.func @synchronous(
// CHECK-SAME:      %[[X:.*]]: index, %[[Y:.*]]: index)
// CHECK:         %[[DEFAULT:.*]] = llvm.mlir.zero
// CHECK:         %[[STUB:.*]] = llvm.mlir.addressof @none_stub
// CHECK:         %[[GX:.*]] = builtin.unrealized_conversion_cast %[[X]]
// CHECK:         %[[GY:.*]] = builtin.unrealized_conversion_cast %[[Y]]
// CHECK:         %[[GZ:.*]] = builtin.unrealized_conversion_cast %[[Y]]
// CHECK:         %[[BX:.*]] = builtin.unrealized_conversion_cast %[[Y]]
// CHECK:         %[[BY:.*]] = builtin.unrealized_conversion_cast %[[X]]
// CHECK:         %[[BZ:.*]] = builtin.unrealized_conversion_cast %[[X]]
// CHECK:         %[[SHARED:.*]] = llvm.mlir.constant(0 : i64)
// CHECK:         %[[ARGUMENTS:.*]] = llvm.mlir.zero
// CHECK:         llvm.call @hirc_launch(%[[STUB]], %[[GX]], %[[GY]], %[[GZ]], %[[BX]], %[[BY]], %[[BZ]], %[[SHARED]], %[[ARGUMENTS]], %{{[0-9]+}}, %[[DEFAULT]], %{{.*}})
// CHECK:         llvm.call @cudaStreamSynchronize(%[[DEFAULT]])
func.func @synchronous(%x: index, %y: index) {
  gpu.launch_func @kernels::@none blocks in (%x, %y, %y) threads in (%y, %x, %x)
  return
}

// Extents of i32 are widened. Several dependencies are joined into the first one's stream.
// CHECK-LABEL: func.func @asynchronous(
// CHECK-SAME:      %[[N:.*]]: i32, %[[FIRST:.*]]: !llvm.ptr, %[[OTHER:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK:         llvm.call @hirc_stream_wait(%[[FIRST]], %[[OTHER]], %{{.*}})
// CHECK-COUNT-6: llvm.zext %[[N]] : i32 to i64
// CHECK:         %[[SHARED:.*]] = llvm.zext %[[N]] : i32 to i64
// CHECK-NEXT:    llvm.mlir.zero
// CHECK:         llvm.call @hirc_launch(%{{.*}}, %[[SHARED]], %{{[0-9]+}}, %{{[0-9]+}}, %[[FIRST]], %{{[0-9]+}})
// CHECK-NOT:     cudaStreamSynchronize
// CHECK:         return %[[FIRST]]
func.func @asynchronous(%n: i32, %t: !gpu.async.token, %u: !gpu.async.token) -> !gpu.async.token {
  %0 = gpu.launch_func async [%t, %u] @kernels::@none blocks in (%n, %n, %n) threads in (%n, %n, %n) : i32 dynamic_shared_memory_size %n
  return %0 : !gpu.async.token
}

// CHECK-LABEL: func.func @cluster(
// CHECK-SAME:      %[[N:.*]]: index, %[[SIZE:.*]]: index)
// CHECK:         %[[C:.*]] = builtin.unrealized_conversion_cast %[[SIZE]]
// CHECK:         %[[COOPERATIVE:.*]] = llvm.mlir.constant(0 : i32)
// CHECK:         llvm.call @hirc_launch_cluster(%{{.*}}, %[[C]], %{{[0-9]+}}, %{{[0-9]+}}, %[[COOPERATIVE]], %{{[0-9]+}})
func.func @cluster(%n: index, %size: index) {
  gpu.launch_func @kernels::@none clusters in (%size, %n, %n) blocks in (%n, %n, %n) threads in (%n, %n, %n)
  return
}

// A kernel that waits for the one before it itself.
// CHECK-LABEL: func.func @overlapping(
// CHECK:         %[[KINDS:.*]] = llvm.mlir.constant(2 : i32)
// CHECK:         llvm.call @hirc_launch_cluster({{.*}}, %[[KINDS]], %{{[0-9]+}})
func.func @overlapping(%n: index) {
  gpu.launch_func @kernels::@none blocks in (%n, %n, %n) threads in (%n, %n, %n) {hir.overlaps}
  return
}

// Each argument gets a place in a struct, and the launch an array of their addresses.
// CHECK-LABEL: func.func @scalar_arguments(
// CHECK-SAME:      %{{.*}}: index, %[[B:[a-z0-9]+]]: i1, %[[C:[a-z0-9]+]]: bf16, %[[D:[a-z0-9]+]]: complex<f32>, %[[E:[a-z0-9]+]]: vector<4xf32>, %[[F:[a-z0-9]+]]: vector<2x3xf16>, %[[G:[a-z0-9]+]]: !llvm.ptr)
// CHECK:         %[[ADDRESSES:.*]] = llvm.alloca %{{.*}} x !llvm.array<7 x ptr>
// CHECK:         %[[VALUES:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i64, i1, bf16, struct<(f32, f32)>, vector<4xf32>, array<2 x vector<3xf16>>, ptr)>
// CHECK:         %[[PARTS:.*]] = builtin.unrealized_conversion_cast %[[D]] : complex<f32> to !llvm.struct<(f32, f32)>
// CHECK:         %[[ROWS:.*]] = builtin.unrealized_conversion_cast %[[F]] : vector<2x3xf16> to !llvm.array<2 x vector<3xf16>>
// CHECK:         %[[VALUE_B:.*]] = llvm.getelementptr %[[VALUES]][0, 1]
// CHECK-NEXT:    llvm.store %[[B]], %[[VALUE_B]] : i1, !llvm.ptr
// CHECK-NEXT:    %[[ADDRESS_B:.*]] = llvm.getelementptr %[[ADDRESSES]][0, 1]
// CHECK-NEXT:    llvm.store %[[VALUE_B]], %[[ADDRESS_B]] : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.store %[[C]], %{{.*}} : bf16, !llvm.ptr
// CHECK:         llvm.store %[[PARTS]], %{{.*}} : !llvm.struct<(f32, f32)>, !llvm.ptr
// CHECK:         llvm.store %[[E]], %{{.*}} : vector<4xf32>, !llvm.ptr
// CHECK:         llvm.store %[[ROWS]], %{{.*}} : !llvm.array<2 x vector<3xf16>>, !llvm.ptr
// CHECK:         llvm.store %[[G]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:         %[[SECOND:.*]] = llvm.getelementptr %{{[0-9]+}}[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i1,
// CHECK-NEXT:    %[[BYTES:.*]] = llvm.ptrtoint %[[SECOND]]
// CHECK:         llvm.call @hirc_launch(%{{.*}}, %[[ADDRESSES]], %[[BYTES]], %{{[0-9]+}}, %{{[0-9]+}})
func.func @scalar_arguments(%a: index, %b: i1, %c: bf16, %d: complex<f32>, %e: vector<4xf32>, %f: vector<2x3xf16>, %g: !llvm.ptr) {
  gpu.launch_func @kernels::@scalars blocks in (%a, %a, %a) threads in (%a, %a, %a)
      args(%a: index, %b: i1, %c: bf16, %d: complex<f32>, %e: vector<4xf32>, %f: vector<2x3xf16>, %g: !llvm.ptr)
  return
}

// A memref is its descriptor's fields, in order: pointers, offset, sizes, strides.
// CHECK-LABEL: func.func @memref_arguments(
// CHECK-SAME:      %{{.*}}: memref<f32>, %{{.*}}: memref<4x?xi32, strided<[?, 1], offset: ?>>,
// CHECK:         llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, i64, ptr, ptr, i64, i64, i64, i64, i64, ptr, ptr, i64, i64, i64)>
// CHECK:         llvm.extractvalue %[[VIEW:.*]][0]
// CHECK:         llvm.extractvalue %[[VIEW:.*]][0]
// CHECK-NEXT:    llvm.extractvalue %[[VIEW]][1]
// CHECK-NEXT:    llvm.extractvalue %[[VIEW]][2]
// CHECK-NEXT:    llvm.extractvalue %[[VIEW]][3, 0]
// CHECK-NEXT:    llvm.extractvalue %[[VIEW]][3, 1]
// CHECK-NEXT:    llvm.extractvalue %[[VIEW]][4, 0]
// CHECK-NEXT:    llvm.extractvalue %[[VIEW]][4, 1]
func.func @memref_arguments(%a: memref<f32>, %b: memref<4x?xi32, strided<[?, 1], offset: ?>, 1>, %c: memref<8xf32>, %n: index) {
  gpu.launch_func @kernels::@memrefs blocks in (%n, %n, %n) threads in (%n, %n, %n)
      args(%a: memref<f32>, %b: memref<4x?xi32, strided<[?, 1], offset: ?>, 1>, %c: memref<8xf32>)
  return
}
}

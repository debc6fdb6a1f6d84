// RUN: hirc-opt %s -p 'own-host-memory' | FileCheck %s

// CHECK-LABEL: func.func @host(
// CHECK:         %[[MEMORY:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x4xf32>
// CHECK:         %[[DESCRIPTOR:.*]] = builtin.unrealized_conversion_cast %[[MEMORY]]
// CHECK-NEXT:    %[[ALLOCATED:.*]] = llvm.extractvalue %[[DESCRIPTOR]][0]
// CHECK:         llvm.call @hirc_own_host(%[[ALLOCATED]], %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, !llvm.ptr) -> ()
// CHECK:         llvm.call @hirc_disown_memory(
// CHECK-NEXT:    memref.dealloc %[[MEMORY]]
func.func @host(%n: index) {
  %m = memref.alloc(%n) {alignment = 64} : memref<?x4xf32>
  memref.dealloc %m : memref<?x4xf32>
  return
}

// Memory of a device function's own is not the host's.
// CHECK-LABEL: gpu.func @device(
// CHECK-NEXT:    memref.alloc
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    gpu.return
gpu.module @kernels {
  gpu.func @device() kernel {
    %m = memref.alloc() : memref<4xf32>
    memref.dealloc %m : memref<4xf32>
    gpu.return
  }
}

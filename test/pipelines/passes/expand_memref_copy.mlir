// RUN: hirc-opt %s -p 'gpu.module(expand-memref-copy)' | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX

gpu.module @m {
  // CHECK-LABEL: gpu.func @strided
  // CHECK-SAME:    %[[A:.*]]: memref<4x?xf32>, %[[B:.*]]: memref<4x?xf32, strided<[1, 4]>>
  // CHECK-NOT:     memref.copy
  // CHECK:         %[[ROWS:.*]] = memref.dim %[[A]]
  // CHECK:         %[[COLUMNS:.*]] = memref.dim %[[A]]
  // CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[ROWS]]
  // CHECK:           scf.for %[[J:.*]] = %{{.*}} to %[[COLUMNS]]
  // CHECK:             %[[VALUE:.*]] = memref.load %[[A]][%[[I]], %[[J]]]
  // CHECK:             memref.store %[[VALUE]], %[[B]][%[[I]], %[[J]]]
  gpu.func @strided(%a: memref<4x?xf32>, %b: memref<4x?xf32, strided<[1, 4]>>) kernel {
    memref.copy %a, %b : memref<4x?xf32> to memref<4x?xf32, strided<[1, 4]>>
    gpu.return
  }

  // Element by element, not byte by byte.
  // CHECK-LABEL: gpu.func @packed
  // CHECK-NOT:     memref.copy
  // PTX-LABEL:   .visible .entry packed
  // PTX-NOT:       ld.global.b8
  // PTX:           st.global.b32
  gpu.func @packed(%a: memref<?xf32>, %b: memref<?xf32>) kernel {
    memref.copy %a, %b : memref<?xf32> to memref<?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @scalar
  // CHECK-NOT:     scf.for
  // CHECK:         %[[VALUE:.*]] = memref.load %{{.*}}[] : memref<i8>
  // CHECK:         memref.store %[[VALUE]], %{{.*}}[] : memref<i8>
  gpu.func @scalar(%a: memref<i8>, %b: memref<i8>) kernel {
    memref.copy %a, %b : memref<i8> to memref<i8>
    gpu.return
  }
}

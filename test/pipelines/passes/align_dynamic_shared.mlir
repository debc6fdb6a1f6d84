// RUN: hirc-opt %s --align-dynamic-shared --split-input-file | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK-LABEL: gpu.func @multiply
  // CHECK:         %[[START:.*]] = gpu.dynamic_shared_memory
  // CHECK:         %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[START]]
  // CHECK:         %[[BELOW:.*]] = arith.subi %{{.*}}, %[[ADDRESS]]
  // CHECK:         %[[SKIPPED:.*]] = arith.andi %[[BELOW]], %c1023
  // CHECK:         %[[SHARED:.*]] = memref.view %[[START]][%[[SKIPPED]]]
  // CHECK:         memref.view %[[SHARED]]
  gpu.module @kernels {
    gpu.func @multiply() kernel {
      %c0 = arith.constant 0 : index
      %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %tile = memref.view %shared[%c0][] : memref<?xi8, #gpu.address_space<workgroup>>
          to memref<64x64xf16, #gpu.address_space<workgroup>>
      nvvm.wgmma.fence.aligned
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @main
  // CHECK-SAME:      %[[SIZE:.*]]: i32
  // CHECK:         %[[MORE:.*]] = arith.addi %[[SIZE]], %c1008_i32
  // CHECK:         gpu.launch_func
  // CHECK-SAME:      dynamic_shared_memory_size %[[MORE]]
  func.func @main(%size: i32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@multiply blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        dynamic_shared_memory_size %size
    return
  }
}

// -----

// Without swizzled tiles nothing changes.
module attributes {gpu.container_module} {
  // CHECK-LABEL: gpu.func @plain
  // CHECK-NOT:     arith.andi
  gpu.module @kernels {
    gpu.func @plain(%value: i8) kernel {
      %c0 = arith.constant 0 : index
      %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      memref.store %value, %shared[%c0] : memref<?xi8, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @main
  // CHECK-NOT:     arith.addi
  // CHECK:         gpu.launch_func
  func.func @main(%size: i32, %value: i8) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@plain blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        dynamic_shared_memory_size %size args(%value : i8)
    return
  }
}

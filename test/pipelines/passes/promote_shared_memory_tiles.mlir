// RUN: hirc-opt %s --promote-shared-memory | FileCheck %s

// Alignments past 128 bytes are kept, and in a module with tiles the kernel's own dynamic memory
// begins at a multiple of 1024.
module attributes {gpu.container_module} {
gpu.module @m {
  // CHECK-LABEL: gpu.func @large(
  // CHECK-DAG:     %[[AFTER:.*]] = arith.constant 1024 : index
  // CHECK-DAG:     memref.view %{{.*}}[%[[AFTER]]][] : {{.*}} to memref<100x100xf64, #gpu.address_space<workgroup>>
  // CHECK-DAG:     %[[END:.*]] = arith.constant 81920 : index
  // CHECK-DAG:     memref.view %{{.*}}[%[[END]]]
  gpu.func @large(%i: index) workgroup(%a: memref<3xi8, #gpu.address_space<workgroup>>, %b: memref<100x100xf64, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64}) kernel {
    %byte = arith.constant 1 : i8
    %number = arith.constant 1.0 : f64
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %byte, %a[%i] : memref<3xi8, #gpu.address_space<workgroup>>
    memref.store %number, %b[%i, %i] : memref<100x100xf64, #gpu.address_space<workgroup>>
    memref.store %byte, %own[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    nvvm.wgmma.fence.aligned
    gpu.return
  }

  // A global that is aligned to 512 lies so, whatever comes before it.
  // CHECK-LABEL: gpu.func @globals(
  // CHECK:         %[[SECOND:.*]] = arith.constant 60416 : index
  // CHECK:         memref.view %{{.*}}[%[[SECOND]]][] : {{.*}} to memref<8xf32, #gpu.address_space<workgroup>>
  memref.global "private" @first : memref<15050xf32, #gpu.address_space<workgroup>>
  memref.global "private" @second : memref<8xf32, #gpu.address_space<workgroup>> {alignment = 512 : i64}
  gpu.func @globals(%i: index) kernel {
    %first = memref.get_global @first : memref<15050xf32, #gpu.address_space<workgroup>>
    %second = memref.get_global @second : memref<8xf32, #gpu.address_space<workgroup>>
    %value = memref.load %first[%i] : memref<15050xf32, #gpu.address_space<workgroup>>
    memref.store %value, %second[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

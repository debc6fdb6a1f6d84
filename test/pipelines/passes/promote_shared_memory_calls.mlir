// RUN: hirc-opt %s --promote-shared-memory | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX

// What the functions that a kernel calls have of dynamic shared memory begins after its own.
module attributes {gpu.container_module} {
gpu.module @m {
  // CHECK-LABEL: func.func private @inner
  // CHECK:         %[[OWN:.*]] = gpu.dynamic_shared_memory
  // CHECK:         %[[END:.*]] = arith.constant 80000 : index
  // CHECK:         %[[REST:.*]] = memref.view %[[OWN]][%[[END]]]
  // CHECK:         memref.store %{{.*}}, %[[REST]]
  func.func private @inner(%i: index, %v: i8) {
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %own[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    return
  }
  func.func private @outer(%i: index, %v: i8) {
    func.call @inner(%i, %v) : (index, i8) -> ()
    return
  }

  // PTX:         st.shared.b8 [%{{.*}}+80000]
  // PTX:         st.shared.b32
  gpu.func @k(%i: index, %v: i8, %x: f32) workgroup(%tile: memref<20000xf32, #gpu.address_space<workgroup>>) kernel {
    func.call @outer(%i, %v) : (index, i8) -> ()
    gpu.barrier
    memref.store %x, %tile[%i] : memref<20000xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // One whose callers have all their workgroup memory in static begins at its start.
  // CHECK-LABEL: func.func private @apart
  // CHECK:         %[[OWN:.*]] = gpu.dynamic_shared_memory
  // CHECK-NOT:     memref.view
  // CHECK:         memref.store %{{.*}}, %[[OWN]]
  func.func private @apart(%i: index, %v: i8) {
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %own[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    return
  }
  gpu.func @small(%i: index, %v: i8) workgroup(%tile: memref<20xf32, #gpu.address_space<workgroup>>) kernel {
    func.call @apart(%i, %v) : (index, i8) -> ()
    gpu.return
  }
}
}

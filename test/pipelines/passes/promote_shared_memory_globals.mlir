// RUN: hirc-opt %s --promote-shared-memory | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX

module attributes {gpu.container_module} {
gpu.module @m {
  // CHECK-NOT: memref.global {{.*}}@tile
  // CHECK-NOT: memref.global {{.*}}@more
  // CHECK:     memref.global "private" @half : memref<7000xf32, #gpu.address_space<workgroup>>
  memref.global "private" @tile : memref<20000xf32, #gpu.address_space<workgroup>>
  memref.global "private" @more : memref<16xf32, 3>
  memref.global "private" @half : memref<7000xf32, #gpu.address_space<workgroup>>

  // PTX-NOT: .shared .align {{.*}}[80000]

  // A global is where it is for every kernel that shares it.
  // CHECK-LABEL: func.func private @write
  // CHECK:         %[[BASE:.*]] = gpu.dynamic_shared_memory
  // CHECK:         %[[AT:.*]] = arith.constant 0 : index
  // CHECK:         %[[TILE:.*]] = memref.view %[[BASE]][%[[AT]]][] : {{.*}} to memref<20000xf32, #gpu.address_space<workgroup>>
  // CHECK:         memref.store %{{.*}}, %[[TILE]]
  func.func private @write(%i: index, %x: f32) {
    %tile = memref.get_global @tile : memref<20000xf32, #gpu.address_space<workgroup>>
    memref.store %x, %tile[%i] : memref<20000xf32, #gpu.address_space<workgroup>>
    return
  }

  // A small attribution stays.
  // CHECK-LABEL: gpu.func @one
  // CHECK-SAME:    workgroup(%{{.*}} : memref<4xf32, #gpu.address_space<workgroup>>) kernel
  // CHECK:         %[[OWN:.*]] = gpu.dynamic_shared_memory
  // CHECK:         %[[END:.*]] = arith.constant 80128 : index
  // CHECK:         memref.view %[[OWN]][%[[END]]]
  gpu.func @one(%i: index, %x: f32, %v: i8) workgroup(%w: memref<4xf32, #gpu.address_space<workgroup>>) kernel {
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    func.call @write(%i, %x) : (index, f32) -> ()
    %more = memref.get_global @more : memref<16xf32, 3>
    memref.store %x, %more[%i] : memref<16xf32, 3>
    memref.store %v, %own[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %x, %w[%i] : memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @two
  // CHECK:         %[[BASE:.*]] = gpu.dynamic_shared_memory
  // CHECK:         %[[SPACED:.*]] = memref.memory_space_cast %[[BASE]] : {{.*}} to memref<?xi8, 3>
  // CHECK:         %[[AT:.*]] = arith.constant 80000 : index
  // CHECK:         memref.view %[[SPACED]][%[[AT]]][] : memref<?xi8, 3> to memref<16xf32, 3>
  gpu.func @two(%i: index, %x: f32) kernel {
    %more = memref.get_global @more : memref<16xf32, 3>
    memref.store %x, %more[%i] : memref<16xf32, 3>
    gpu.return
  }

  // Attributions and globals count together; the attributions go first.
  // CHECK-LABEL: gpu.func @together(%{{.*}}: index, %{{.*}}: f32) kernel
  // CHECK:         memref.view %{{.*}} to memref<7000xf32, #gpu.address_space<workgroup>>
  // CHECK:         memref.get_global @half
  gpu.func @together(%i: index, %x: f32) workgroup(%w: memref<7000xf32, #gpu.address_space<workgroup>>) kernel {
    %half = memref.get_global @half : memref<7000xf32, #gpu.address_space<workgroup>>
    memref.store %x, %half[%i] : memref<7000xf32, #gpu.address_space<workgroup>>
    memref.store %x, %w[%i] : memref<7000xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// CHECK-LABEL: func.func @main
// CHECK:         arith.constant 80128 : i32
// CHECK-NEXT:    gpu.launch_func @m::@one {{.*}} dynamic_shared_memory_size
// CHECK:         arith.constant 80128 : i32
// CHECK-NEXT:    gpu.launch_func @m::@two {{.*}} dynamic_shared_memory_size
// CHECK:         arith.constant 28032 : i32
// CHECK-NEXT:    gpu.launch_func @m::@together {{.*}} dynamic_shared_memory_size
func.func @main(%n: index, %x: f32, %v: i8) {
  gpu.launch_func @m::@one blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%n: index, %x: f32, %v: i8)
  gpu.launch_func @m::@two blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%n: index, %x: f32)
  gpu.launch_func @m::@together blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%n: index, %x: f32)
  return
}
}

// RUN: hirc-opt %s --promote-shared-memory | FileCheck %s

module attributes {gpu.container_module} {
gpu.module @m {
  // 48 KB is still static.
  // CHECK-LABEL: gpu.func @small() workgroup(%{{.*}} : memref<12288xf32, #gpu.address_space<workgroup>>) kernel
  // CHECK-NOT:     gpu.dynamic_shared_memory
  gpu.func @small() workgroup(%a: memref<12288xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }

  // More is one piece of dynamic memory, each buffer at a multiple of 128 bytes. What the kernel
  // itself has of dynamic memory begins after them.
  // CHECK-LABEL: gpu.func @large(%{{.*}}: index) kernel {
  // CHECK:         %[[BASE:.*]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  // CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK:         %[[FIRST:.*]] = memref.view %[[BASE]][%[[ZERO]]][] : {{.*}} to memref<3xi8, #gpu.address_space<workgroup>>
  // CHECK:         %[[AFTER:.*]] = arith.constant 128 : index
  // CHECK:         %[[SECOND:.*]] = memref.view %{{.*}}[%[[AFTER]]][] : {{.*}} to memref<100x100xf64, #gpu.address_space<workgroup>>
  // CHECK:         %[[END:.*]] = arith.constant 80128 : index
  // CHECK:         %[[REST:.*]] = memref.view %{{.*}}[%[[END]]]
  // CHECK:         memref.store %{{.*}}, %[[FIRST]]
  // CHECK:         memref.store %{{.*}}, %[[SECOND]]
  // CHECK:         memref.store %{{.*}}, %[[REST]]
  gpu.func @large(%i: index) workgroup(%a: memref<3xi8, #gpu.address_space<workgroup>>, %b: memref<100x100xf64, #gpu.address_space<workgroup>>) kernel {
    %byte = arith.constant 1 : i8
    %number = arith.constant 1.0 : f64
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %byte, %a[%i] : memref<3xi8, #gpu.address_space<workgroup>>
    memref.store %number, %b[%i, %i] : memref<100x100xf64, #gpu.address_space<workgroup>>
    memref.store %byte, %own[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// Launches ask for it, on top of what they asked for, and keep tokens and arguments.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %{{.*}}: index, %[[BYTES:.*]]: i32, %{{.*}}: !gpu.async.token)
// CHECK:         gpu.launch_func @m::@small
// CHECK-NOT:       dynamic_shared_memory_size
// CHECK:         %[[SIZE:.*]] = arith.constant 80128 : i32
// CHECK:         gpu.launch_func @m::@large {{.*}} dynamic_shared_memory_size %[[SIZE]] args(%{{.*}} : index)
// CHECK:         %[[MORE:.*]] = arith.constant 80128 : i32
// CHECK:         %[[SUM:.*]] = arith.addi %[[BYTES]], %[[MORE]] : i32
// CHECK:         %[[TOKEN:.*]] = gpu.launch_func async {{.*}} @m::@large {{.*}} dynamic_shared_memory_size %[[SUM]] args(%{{.*}} : index)
// CHECK:         return %[[TOKEN]]
func.func @main(%n: index, %bytes: i32, %t: !gpu.async.token) -> !gpu.async.token {
  gpu.launch_func @m::@small blocks in (%n, %n, %n) threads in (%n, %n, %n)
  gpu.launch_func @m::@large blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%n: index)
  %0 = gpu.launch_func async [%t] @m::@large blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %bytes args(%n: index)
  return %0 : !gpu.async.token
}
}

// RUN: hirc-opt %s --convert-gpu-host-to-cuda=bare-pointers=true --split-input-file --verify-diagnostics | FileCheck %s

// A memref is its aligned pointer.
// CHECK-LABEL: func.func @static(
// CHECK:         llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, i32)>
// CHECK-COUNT-2: llvm.extractvalue %{{.*}}[1]
// CHECK-NOT:     llvm.extractvalue
// CHECK:         llvm.call @hirc_launch
module attributes {gpu.container_module} {
llvm.mlir.global internal constant @k_stub(0 : i8) : i8
gpu.module @m {
  gpu.func @k(%a: memref<f32>, %b: memref<4x2xi32, strided<[4, 1], offset: 3>>, %c: i32) kernel { gpu.return }
}
func.func @static(%a: memref<f32>, %b: memref<4x2xi32, strided<[4, 1], offset: 3>>, %c: i32, %n: index) {
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
      args(%a: memref<f32>, %b: memref<4x2xi32, strided<[4, 1], offset: 3>>, %c: i32)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%a: memref<?xf32>) kernel { gpu.return } }
func.func @shape(%a: memref<?xf32>, %n: index) {
  // expected-error @below {{memref<?xf32> cannot be a bare pointer: its shape or layout is known at run time only}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a: memref<?xf32>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%a: memref<4xf32, strided<[?]>>) kernel { gpu.return } }
func.func @layout(%a: memref<4xf32, strided<[?]>>, %n: index) {
  // expected-error @below {{cannot be a bare pointer: its shape or layout is known at run time only}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a: memref<4xf32, strided<[?]>>)
  return
}
}

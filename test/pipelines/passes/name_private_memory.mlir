// RUN: hirc-opt %s -p 'gpu.module(name-private-memory)' | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX

// The number becomes the name wherever it stands; other spaces stay.
gpu.module @m {
  // CHECK-LABEL: func.func @get(
  // CHECK-SAME:    memref<4xf32, #gpu.address_space<private>>, %{{.*}}: index) -> f32
  func.func @get(%x: memref<4xf32, 5>, %i: index) -> f32 {
    %v = memref.load %x[%i] : memref<4xf32, 5>
    return %v : f32
  }
  // CHECK-LABEL: gpu.func @k(
  // CHECK-SAME:    workgroup(%{{.*}} : memref<4xf32, 3>)
  // CHECK-SAME:    private(%{{.*}} : memref<4xf32, #gpu.address_space<private>>)
  // CHECK:         memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  // CHECK:         memref.subview {{.*}} to memref<2xf32, strided<[1], offset: 2>, #gpu.address_space<private>>
  // CHECK-NOT:     , 5>
  // PTX-LABEL: .entry k(
  // PTX:       .local
  gpu.func @k(%out: memref<?xf32>, %i: index) workgroup(%w: memref<4xf32, 3>) private(%p: memref<4xf32, 5>) kernel {
    %q = memref.alloca() : memref<4xf32, 5>
    %c0 = arith.constant 0 : index
    %s = memref.subview %p[2] [2] [1] : memref<4xf32, 5> to memref<2xf32, strided<[1], offset: 2>, 5>
    %f = memref.load %out[%c0] : memref<?xf32>
    memref.store %f, %p[%i] : memref<4xf32, 5>
    memref.copy %p, %q : memref<4xf32, 5> to memref<4xf32, 5>
    %g = memref.load %s[%c0] : memref<2xf32, strided<[1], offset: 2>, 5>
    %h = func.call @get(%q, %i) : (memref<4xf32, 5>, index) -> f32
    %plain = memref.memory_space_cast %q : memref<4xf32, 5> to memref<4xf32>
    %j = memref.load %plain[%i] : memref<4xf32>
    memref.store %j, %w[%i] : memref<4xf32, 3>
    %a = arith.addf %g, %h : f32
    memref.store %a, %out[%i] : memref<?xf32>
    gpu.return
  }
}

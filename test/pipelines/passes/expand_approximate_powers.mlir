// RUN: hirc-opt %s -p "gpu.module(expand-approximate-powers)" | FileCheck %s

// CHECK-LABEL: gpu.func @scalars(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: f32
// CHECK:         %[[T:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK:         %[[E:.*]] = nvvm.ex2 %[[T]]{{.*}}ftz
// CHECK:         %[[P:.*]] = nvvm.ex2 %[[X]]{{.*}}ftz
// CHECK:         arith.addf %[[E]], %[[P]]

// What must be exact stays, and what is no f32.

// CHECK-LABEL: gpu.func @others(
// CHECK-NOT:     nvvm.ex2
// CHECK:         math.exp %{{.*}} : f32
// CHECK:         math.exp %{{.*}} fastmath<contract> : f32
// CHECK:         math.exp2 %{{.*}} fastmath<afn> : f64
// CHECK:         gpu.return

// CHECK-LABEL: gpu.func @vectors(
// CHECK-COUNT-2: nvvm.ex2
// CHECK:         vector.from_elements
gpu.module @kernels {
  gpu.func @scalars(%x: f32, %y: memref<f32>) kernel {
    %e = math.exp %x fastmath<afn> : f32
    %p = math.exp2 %x fastmath<fast> : f32
    %s = arith.addf %e, %p : f32
    memref.store %s, %y[] : memref<f32>
    gpu.return
  }
  gpu.func @others(%x: f32, %w: f64, %y: memref<f32>, %z: memref<f64>) kernel {
    %e = math.exp %x : f32
    %p = math.exp %e fastmath<contract> : f32
    memref.store %p, %y[] : memref<f32>
    %q = math.exp2 %w fastmath<afn> : f64
    memref.store %q, %z[] : memref<f64>
    gpu.return
  }
  gpu.func @vectors(%x: vector<2xf32>, %y: memref<vector<2xf32>>) kernel {
    %e = math.exp %x fastmath<afn> : vector<2xf32>
    memref.store %e, %y[] : memref<vector<2xf32>>
    gpu.return
  }
}

// RUN: hirc-opt %s -p 'convert-expm1-to-libm' | FileCheck %s

// CHECK-DAG: func.func private @expm1(f64) -> f64
// CHECK-DAG: func.func private @expm1f(f32) -> f32

// CHECK-LABEL: func.func @host
// CHECK-COUNT-2: call @expm1f(%{{.*}}) : (f32) -> f32
// CHECK:         vector.from_elements
// CHECK:         call @expm1(%{{.*}}) : (f64) -> f64
// CHECK:         %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK:         %[[R:.*]] = call @expm1f(%[[WIDE]])
// CHECK:         arith.truncf %[[R]] : f32 to f16
func.func @host(%x: vector<2xf32>, %y: f64, %z: f16) -> (vector<2xf32>, f64, f16) {
  %0 = math.expm1 %x : vector<2xf32>
  %1 = math.expm1 %y : f64
  %2 = math.expm1 %z : f16
  return %0, %1, %2 : vector<2xf32>, f64, f16
}

// Device code has libdevice's.

// CHECK-LABEL: gpu.func @device
// CHECK:         math.expm1
gpu.module @kernels {
  gpu.func @device(%x: f32, %out: memref<f32>) kernel {
    %r = math.expm1 %x : f32
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }
}

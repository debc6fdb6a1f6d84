// RUN: hirc-opt %s -p 'gpu.module(convert-near-one-to-ocml)' | FileCheck %s

// CHECK-DAG:     func.func private @__ocml_expm1_f32(f32) -> f32
// CHECK-DAG:     func.func private @__ocml_log1p_f64(f64) -> f64
gpu.module @m {
  // CHECK-LABEL: gpu.func @both
  // CHECK-SAME:    %[[X:.*]]: f32, %[[Y:.*]]: vector<2xf64>
  // CHECK:         %[[E:.*]] = func.call @__ocml_expm1_f32(%[[X]])
  // CHECK:         math.copysign %[[E]], %[[X]] : f32
  // CHECK-COUNT-2: func.call @__ocml_log1p_f64
  // CHECK-NOT:     math.expm1
  // CHECK-NOT:     math.log1p
  gpu.func @both(%x: f32, %y: vector<2xf64>, %a: memref<f32>, %b: memref<1xvector<2xf64>>) kernel {
    %zero = arith.constant 0 : index
    %e = math.expm1 %x : f32
    memref.store %e, %a[] : memref<f32>
    %l = math.log1p %y : vector<2xf64>
    memref.store %l, %b[%zero] : memref<1xvector<2xf64>>
    gpu.return
  }
}

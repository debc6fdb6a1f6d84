// RUN: hirc-opt %s -p 'gpu.module(widen-printf-operands)' | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX

gpu.module @m {
  // CHECK-LABEL: gpu.func @integers
  // CHECK-SAME:    %[[I1:.*]]: i1, %[[I8:.*]]: i8, %[[I16:.*]]: i16, %[[I33:.*]]: i33, %[[I32:.*]]: i32
  // CHECK-DAG:     %[[W1:.*]] = arith.extui %[[I1]] : i1 to i32
  // CHECK-DAG:     %[[W8:.*]] = arith.extsi %[[I8]] : i8 to i32
  // CHECK-DAG:     %[[W16:.*]] = arith.extsi %[[I16]] : i16 to i32
  // CHECK-DAG:     %[[W33:.*]] = arith.extsi %[[I33]] : i33 to i64
  // CHECK:         gpu.printf "%d %d %d %ld %d\0A", %[[W1]], %[[W8]], %[[W16]], %[[W33]], %[[I32]] : i32, i32, i32, i64, i32

  gpu.func @integers(%a: i1, %b: i8, %c: i16, %d: i33, %e: i32) {
    gpu.printf "%d %d %d %ld %d\n", %a, %b, %c, %d, %e : i1, i8, i16, i33, i32
    gpu.return
  }

  // Four bytes each, where vprintf looks for them.
  // PTX-LABEL: .visible .entry
  // PTX:       st.local.v2.b32 [%[[BUFFER:.*]]], {%{{.*}}, %{{.*}}}
  // PTX-NEXT:  st.local.b32 [%[[BUFFER]]+8], %{{.*}}
  gpu.func @kernel(%a: i8, %b: i16, %c: i1) kernel {
    gpu.printf "%d %d %d\n", %a, %b, %c : i8, i16, i1
    gpu.return
  }

  // Unsigned ones keep their value.
  // CHECK-LABEL: gpu.func @signed
  // CHECK-SAME:    %[[U8:.*]]: ui8, %[[S16:.*]]: si16
  // CHECK:         %[[BITS:.*]] = builtin.unrealized_conversion_cast %[[U8]] : ui8 to i8
  // CHECK:         arith.extui %[[BITS]] : i8 to i32
  // CHECK:         arith.extsi %{{.*}} : i16 to i32
  gpu.func @signed(%a: ui8, %b: si16) {
    gpu.printf "%u %d\n", %a, %b : ui8, si16
    gpu.return
  }

  // Upstream widens the other floats.
  // CHECK-LABEL: gpu.func @floats
  // CHECK-SAME:    %[[F8:.*]]: f8E5M2, %[[F16:.*]]: f16
  // CHECK:         %[[WIDE:.*]] = arith.extf %[[F8]] : f8E5M2 to f32
  // CHECK:         gpu.printf "%f %f %ld\0A", %[[WIDE]], %[[F16]], %{{.*}} : f32, f16, index
  gpu.func @floats(%a: f8E5M2, %b: f16, %c: index) {
    gpu.printf "%f %f %ld\n", %a, %b, %c : f8E5M2, f16, index
    gpu.return
  }
}

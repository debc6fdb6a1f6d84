// RUN: hirc-opt %s -p 'gpu.module(expand-multi-reduction)' | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX

gpu.module @m {
  // CHECK-LABEL: gpu.func @outer
  // CHECK-SAME:    %[[V:.*]]: vector<2x2xf32>, %[[ACC:.*]]: vector<2xf32>,
  // CHECK-DAG:     %[[A0:.*]] = vector.extract %[[ACC]][0]
  // CHECK-DAG:     %[[V00:.*]] = vector.extract %[[V]][0, 0]
  // CHECK:         %[[S0:.*]] = arith.addf %[[A0]], %[[V00]]
  // CHECK:         %[[V10:.*]] = vector.extract %[[V]][1, 0]
  // CHECK:         %[[R0:.*]] = arith.addf %[[S0]], %[[V10]]
  // CHECK:         %[[V01:.*]] = vector.extract %[[V]][0, 1]
  // CHECK:         %[[V11:.*]] = vector.extract %[[V]][1, 1]
  // CHECK:         %[[R1:.*]] = arith.addf %{{.*}}, %[[V11]]
  // CHECK:         vector.from_elements %[[R0]], %[[R1]] : vector<2xf32>

  // PTX-LABEL:   .visible .entry outer
  // PTX-COUNT-4:   add.rn.f32
  // PTX-NOT:       add.rn.f32
  // PTX-LABEL:   .visible .entry everything
  // PTX-COUNT-4:   {{min.s32|min.relu.s32}}
  // PTX-LABEL:   .visible .entry masked
  // PTX:           selp
  gpu.func @outer(%v: vector<2x2xf32>, %acc: vector<2xf32>, %out: memref<vector<2xf32>>) kernel {
    %r = vector.multi_reduction <add>, %v, %acc [0] : vector<2x2xf32> to vector<2xf32>
    memref.store %r, %out[] : memref<vector<2xf32>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @everything
  // CHECK-COUNT-4: arith.minsi
  // CHECK-NOT:     vector.multi_reduction
  gpu.func @everything(%v: vector<2x2xi32>, %acc: i32, %out: memref<i32>) kernel {
    %r = vector.multi_reduction <minsi>, %v, %acc [0, 1] : vector<2x2xi32> to i32
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @masked
  // CHECK-SAME:    %[[MASK:.*]]: vector<1xi1>, %[[V:.*]]: vector<1xf32>, %[[ACC:.*]]: f32,
  // CHECK:         %[[SUM:.*]] = arith.mulf %[[ACC]], %{{.*}} : f32
  // CHECK:         %[[BIT:.*]] = vector.extract %[[MASK]][0]
  // CHECK:         %[[R:.*]] = arith.select %[[BIT]], %[[SUM]], %[[ACC]]
  // CHECK-NOT:     vector.mask
  // CHECK:         memref.store %[[R]]
  gpu.func @masked(%mask: vector<1xi1>, %v: vector<1xf32>, %acc: f32, %out: memref<f32>) kernel {
    %r = vector.mask %mask {
      vector.multi_reduction <mul>, %v, %acc [0] : vector<1xf32> to f32
    } : vector<1xi1> -> f32
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }
}

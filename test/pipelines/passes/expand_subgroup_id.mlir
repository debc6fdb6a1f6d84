// RUN: hirc-opt %s -p 'gpu.module(expand-subgroup-id)' | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX

gpu.module @m {
  // CHECK-LABEL: gpu.func @dynamic
  // CHECK-NOT:     gpu.subgroup_id
  // CHECK:         %[[WARP:.*]] = arith.shrui %{{.*}}, %{{.*}} : i32
  // CHECK:         %[[ID:.*]] = arith.index_castui %[[WARP]] : i32 to index
  // CHECK:         arith.shrui
  // CHECK:         %[[WARPS:.*]] = arith.shrui %{{.*}}, %{{.*}} : i32
  // CHECK:         %[[COUNT:.*]] = arith.index_castui %[[WARPS]] : i32 to index
  // CHECK:         memref.store %[[ID]], %{{.*}}[%[[COUNT]]]

  // (z * size_y + y) * size_x + x, and the size of the block rounded up.
  // PTX-LABEL: .visible .entry dynamic
  // PTX-DAG:   mov.u32 %[[X:.*]], %tid.x;
  // PTX-DAG:   mov.u32 %[[Y:.*]], %tid.y;
  // PTX-DAG:   mov.u32 %[[Z:.*]], %tid.z;
  // PTX-DAG:   mov.u32 %[[SX:.*]], %ntid.x;
  // PTX-DAG:   mov.u32 %[[SY:.*]], %ntid.y;
  // PTX:       mad.lo.s32 %[[ROWS:.*]], %[[Z]], %[[SY]], %[[Y]];
  // PTX:       mad.lo.s32 %[[LINEAR:.*]], %[[ROWS]], %[[SX]], %[[X]];
  // PTX:       shr.u32 %{{.*}}, %[[LINEAR]], 5;
  // PTX:       mad.lo.s32 %[[THREADS:.*]], %{{.*}}, %{{.*}}, 31;
  // PTX:       shr.u32 %{{.*}}, %[[THREADS]], 5;
  gpu.func @dynamic(%out: memref<?xindex>) kernel {
    %id = gpu.subgroup_id : index
    %count = gpu.num_subgroups : index
    memref.store %id, %out[%count] : memref<?xindex>
    gpu.return
  }

  // A short last warp counts.
  // CHECK-LABEL: gpu.func @known
  // CHECK:         %[[COUNT:.*]] = arith.constant 4 : index
  // CHECK:         memref.store %[[COUNT]]
  gpu.func @known(%out: memref<1xindex>) kernel attributes {known_block_size = array<i32: 10, 5, 2>} {
    %zero = arith.constant 0 : index
    %count = gpu.num_subgroups : index
    memref.store %count, %out[%zero] : memref<1xindex>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @width
  // CHECK:         %[[SIZE:.*]] = arith.constant 32 : index
  // CHECK:         memref.store %[[SIZE]]
  gpu.func @width(%out: memref<1xindex>) kernel {
    %zero = arith.constant 0 : index
    %size = gpu.subgroup_size : index
    memref.store %size, %out[%zero] : memref<1xindex>
    gpu.return
  }
}

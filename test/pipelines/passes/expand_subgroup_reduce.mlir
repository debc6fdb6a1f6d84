// RUN: hirc-opt %s --split-input-file -p 'gpu.module(expand-subgroup-reduce)' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'gpu.module(expand-subgroup-reduce{redux=true})' \
// RUN:   | FileCheck %s --check-prefix=REDUX

// Warps known to be whole: lanes exchange pairwise.

// CHECK-LABEL: gpu.func @whole_warps
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK-NOT:     gpu.thread_id
// CHECK:         %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:         %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[X]], %[[ONE]], %{{.*}} : f32
// CHECK:         %[[PAIR:.*]] = arith.maximumf %[[X]], %[[OTHER]] : f32
// CHECK:         gpu.shuffle xor %[[PAIR]]
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
gpu.module @kernels {
  gpu.func @whole_warps(%x: f32, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %r = gpu.subgroup_reduce maximumf %x : (f32) -> f32
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }
}

// -----

// The last warp may be short: the first lane gathers what exists, the others read its result.

// CHECK-LABEL: gpu.func @short_warp
// CHECK:         %[[LANES:.*]] = arith.minui
// CHECK-COUNT-5: arith.cmpi ult, %{{.*}}, %[[LANES]] : i32
// CHECK:         gpu.shuffle idx
// REDUX-LABEL: gpu.func @short_warp
// REDUX-SAME:    %[[X:.*]]: i32
// REDUX:         %[[ALL:.*]] = arith.constant -1 : i32
// REDUX:         nvvm.redux.sync add %[[X]], %[[ALL]] : i32 -> i32
gpu.module @kernels {
  gpu.func @short_warp(%x: i32, %out: memref<i32>) kernel {
    %r = gpu.subgroup_reduce add %x uniform : (i32) -> i32
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }
}

// -----

// Clusters: eight lanes, four apart, so distances 4, 8 and 16; the first lane's number keeps the
// bits that do not count within the cluster (the mask is ~28).

// CHECK-LABEL: gpu.func @clusters
// CHECK:         arith.constant 4 : i32
// CHECK:         gpu.shuffle down
// CHECK:         arith.constant 8 : i32
// CHECK:         gpu.shuffle down
// CHECK:         arith.constant 16 : i32
// CHECK:         %[[R:.*]], %{{.*}} = gpu.shuffle down
// CHECK:         %[[MASK:.*]] = arith.constant -29 : i32
// CHECK:         %[[FIRST:.*]] = arith.andi %{{.*}}, %[[MASK]] : i32
// CHECK:         gpu.shuffle idx %{{.*}}, %[[FIRST]]
// REDUX-LABEL: gpu.func @clusters
// REDUX-NOT:     nvvm.redux
gpu.module @kernels {
  gpu.func @clusters(%x: i32, %out: memref<i32>) kernel {
    %r = gpu.subgroup_reduce xor %x cluster(size = 8, stride = 4) : (i32) -> i32
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }
}

// -----

// Vectors: elements are combined together and travel as words.

// CHECK-LABEL: gpu.func @vectors
// CHECK-SAME:    %[[X:.*]]: vector<4xf16>
// CHECK:         %[[WORDS:.*]] = vector.bitcast %[[X]] : vector<4xf16> to vector<2xi32>
// CHECK:         vector.extract %[[WORDS]][0]
// CHECK:         gpu.shuffle xor
// CHECK:         vector.extract %[[WORDS]][1]
// CHECK:         gpu.shuffle xor
// CHECK:         vector.bitcast %{{.*}} : vector<2xi32> to vector<4xf16>
// CHECK:         arith.addf %[[X]], %{{.*}} : vector<4xf16>
gpu.module @kernels {
  gpu.func @vectors(%x: vector<4xf16>, %out: memref<vector<4xf16>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %r = gpu.subgroup_reduce add %x cluster(size = 2) : (vector<4xf16>) -> vector<4xf16>
    memref.store %r, %out[] : memref<vector<4xf16>>
    gpu.return
  }
}

// -----

// Narrow integers are widened by their sign for the chip's reduction, which has no product and
// no floats.

// REDUX-LABEL: gpu.func @narrow
// REDUX-SAME:    %[[X:[^:]*]]: i8
// REDUX:         %[[WIDE:.*]] = arith.extsi %[[X]] : i8 to i32
// REDUX:         %[[LEAST:.*]] = nvvm.redux.sync min %[[WIDE]]
// REDUX:         %[[NARROW:.*]] = arith.trunci %[[LEAST]] : i32 to i8
// REDUX:         arith.extui %[[NARROW]] : i8 to i32
// REDUX:         nvvm.redux.sync umax
// REDUX-NOT:     nvvm.redux
gpu.module @kernels {
  gpu.func @narrow(%x: i8, %f: f32, %out: memref<i8>, %floats: memref<f32>) kernel {
    %0 = gpu.subgroup_reduce minsi %x : (i8) -> i8
    %1 = gpu.subgroup_reduce maxui %0 : (i8) -> i8
    %2 = gpu.subgroup_reduce mul %1 : (i8) -> i8
    memref.store %2, %out[] : memref<i8>
    %3 = gpu.subgroup_reduce add %f : (f32) -> f32
    memref.store %3, %floats[] : memref<f32>
    gpu.return
  }
}

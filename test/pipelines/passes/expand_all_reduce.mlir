// RUN: hirc-opt %s --split-input-file -p 'gpu.module(expand-all-reduce)' | FileCheck %s

// A block size known only at run time: lanes and warps that may not exist are left out.

// CHECK: memref.global "private" @all_reduce_slots_f32 : memref<33xf32, #gpu.address_space<workgroup>>
// CHECK-LABEL: gpu.func @run_time_size
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK:         %[[LANE:.*]] = arith.andi %[[LINEAR:.*]], %{{.*}} : i32
// CHECK:         %[[WARP:.*]] = arith.shrui %[[LINEAR]], %{{.*}} : i32
// CHECK:         %[[LANES:.*]] = arith.minui
// CHECK:         %[[OFFSET:.*]] = arith.constant 1 : i32
// CHECK:         %[[OTHER:.*]], %{{.*}} = gpu.shuffle down %[[X]], %[[OFFSET]], %{{.*}} : f32
// CHECK:         %[[NEXT:.*]] = arith.addi %[[LANE]], %[[OFFSET]] : i32
// CHECK:         %[[EXISTS:.*]] = arith.cmpi ult, %[[NEXT]], %[[LANES]] : i32
// CHECK:         %[[SUM:.*]] = arith.addf %[[X]], %[[OTHER]] : f32
// CHECK:         arith.select %[[EXISTS]], %[[SUM]], %[[X]] : f32
// CHECK-COUNT-4: gpu.shuffle down
// CHECK:         %[[SLOTS:.*]] = memref.get_global @all_reduce_slots_f32
// CHECK:         scf.if
// CHECK:           memref.store %{{.*}}, %[[SLOTS]]
// CHECK:         gpu.barrier
// CHECK:         scf.if
// CHECK:           memref.load %[[SLOTS]]
// CHECK-COUNT-5:   gpu.shuffle down
// CHECK:           scf.if
// CHECK:             memref.store %{{.*}}, %[[SLOTS]]
// CHECK:         gpu.barrier
// CHECK:         %[[TOTAL:.*]] = memref.load %[[SLOTS]]
// CHECK:         memref.store %[[TOTAL]], %{{.*}}[]
// CHECK-NOT:     gpu.all_reduce
gpu.module @kernels {
  gpu.func @run_time_size(%x: f32, %out: memref<f32>) kernel {
    %sum = gpu.all_reduce add %x {} : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }
}

// -----

// One warp: shuffles alone. 32 lanes all exist, so nothing is guarded.

// CHECK-LABEL: gpu.func @one_warp
// CHECK-NOT:     arith.select
// CHECK-COUNT-5: gpu.shuffle down
// CHECK:         gpu.shuffle idx
// CHECK-NOT:     gpu.barrier
gpu.module @kernels {
  gpu.func @one_warp(%x: i32, %out: memref<i32>) kernel
      attributes {known_block_size = array<i32: 8, 2, 2>} {
    %r = gpu.all_reduce maxui %x uniform {} : (i32) -> i32
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }
}

// -----

// Four whole warps: two steps among them, and again no guard.

// CHECK-LABEL: gpu.func @whole_warps
// CHECK-NOT:     arith.select
// CHECK-COUNT-5: gpu.shuffle down
// CHECK:         gpu.barrier
// CHECK-COUNT-2: gpu.shuffle down
// CHECK-NOT:     gpu.shuffle
// CHECK:         gpu.barrier
gpu.module @kernels {
  gpu.func @whole_warps(%x: f64, %out: memref<f64>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = gpu.all_reduce minimumf %x {} : (f64) -> f64
    memref.store %r, %out[] : memref<f64>
    gpu.return
  }
}

// -----

// A body runs only on values that exist. It may contain regions of its own.

// CHECK-LABEL: gpu.func @body
// CHECK-SAME:    %[[X:.*]]: i32
// CHECK:         %[[OTHER:.*]], %{{.*}} = gpu.shuffle down %[[X]]
// CHECK:         %[[EXISTS:.*]] = arith.cmpi ult
// CHECK:         scf.if %[[EXISTS]] -> (i32) {
// CHECK:           %[[SWAP:.*]] = arith.cmpi sgt, %[[X]], %[[OTHER]] : i32
// CHECK:           %[[R:.*]] = scf.if %[[SWAP]] -> (i32) {
// CHECK:             %[[D:.*]] = arith.divsi %[[X]], %[[OTHER]] : i32
// CHECK:             scf.yield %[[D]]
// CHECK:           } else {
// CHECK:             scf.yield %[[OTHER]] : i32
// CHECK:           }
// CHECK:           scf.yield %[[R]] : i32
// CHECK:         } else {
// CHECK:           scf.yield %[[X]] : i32
// CHECK:         }
gpu.module @kernels {
  gpu.func @body(%x: i32, %out: memref<i32>) kernel {
    %r = gpu.all_reduce %x {
    ^bb(%a: i32, %b: i32):
      %swap = arith.cmpi sgt, %a, %b : i32
      %y = scf.if %swap -> i32 {
        %d = arith.divsi %a, %b : i32
        scf.yield %d : i32
      } else {
        scf.yield %b : i32
      }
      gpu.yield %y : i32
    } : (i32) -> i32
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }
}

// -----

// Narrow types travel as words. Reductions of one type share their slots; a symbol of the
// program's own that has the name is left alone.

// CHECK:     memref.global "private" @all_reduce_slots_f16_ : memref<33xf16, #gpu.address_space<workgroup>>
// CHECK:     memref.global "private" @all_reduce_slots_f16 : memref<4xf16>
// CHECK-NOT: memref.global
// CHECK:     %[[BITS:.*]] = arith.bitcast %{{.*}} : f16 to i16
// CHECK:     %[[WORD:.*]] = arith.extui %[[BITS]] : i16 to i32
// CHECK:     %[[MOVED:.*]], %{{.*}} = gpu.shuffle down %[[WORD]]
// CHECK:     %[[LOW:.*]] = arith.trunci %[[MOVED]] : i32 to i16
// CHECK:     arith.bitcast %[[LOW]] : i16 to f16
// CHECK-COUNT-2: memref.get_global @all_reduce_slots_f16_ :
gpu.module @kernels {
  memref.global "private" @all_reduce_slots_f16 : memref<4xf16>
  gpu.func @narrow(%x: f16, %out: memref<f16>) kernel {
    %r = gpu.all_reduce mul %x {} : (f16) -> f16
    %s = gpu.all_reduce maxnumf %r {} : (f16) -> f16
    memref.store %s, %out[] : memref<f16>
    gpu.return
  }
}

// -----

// Every named kind.

// CHECK-LABEL: gpu.func @kinds
// CHECK: arith.addi
// CHECK: arith.muli
// CHECK: arith.minsi
// CHECK: arith.minui
// CHECK: arith.maxsi
// CHECK: arith.maxui
// CHECK: arith.andi %{{.*}} : i64
// CHECK: arith.ori %{{.*}} : i64
// CHECK: arith.xori %{{.*}} : i64
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: arith.minnumf
// CHECK: arith.maxnumf
// CHECK: arith.minimumf
// CHECK: arith.maximumf
gpu.module @kernels {
  gpu.func @kinds(%i: i64, %f: f32, %ints: memref<i64>, %floats: memref<f32>) kernel
      attributes {known_block_size = array<i32: 2, 1, 1>} {
    %0 = gpu.all_reduce add %i {} : (i64) -> i64
    %1 = gpu.all_reduce mul %0 {} : (i64) -> i64
    %2 = gpu.all_reduce minsi %1 {} : (i64) -> i64
    %3 = gpu.all_reduce minui %2 {} : (i64) -> i64
    %4 = gpu.all_reduce maxsi %3 {} : (i64) -> i64
    %5 = gpu.all_reduce maxui %4 {} : (i64) -> i64
    %6 = gpu.all_reduce and %5 {} : (i64) -> i64
    %7 = gpu.all_reduce or %6 {} : (i64) -> i64
    %8 = gpu.all_reduce xor %7 {} : (i64) -> i64
    memref.store %8, %ints[] : memref<i64>
    %10 = gpu.all_reduce add %f {} : (f32) -> f32
    %11 = gpu.all_reduce mul %10 {} : (f32) -> f32
    %12 = gpu.all_reduce minnumf %11 {} : (f32) -> f32
    %13 = gpu.all_reduce maxnumf %12 {} : (f32) -> f32
    %14 = gpu.all_reduce minimumf %13 {} : (f32) -> f32
    %15 = gpu.all_reduce maximumf %14 {} : (f32) -> f32
    memref.store %15, %floats[] : memref<f32>
    gpu.return
  }
}

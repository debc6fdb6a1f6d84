// RUN: hirc-opt %s -p 'gpu.module(expand-shuffle)' | FileCheck %s
// RUN: hirc %s --emit=asm --offload-arch=gfx90a -o - | FileCheck %s --check-prefix=ASM

gpu.module @m {
  // A lane reads within its group of as many lanes as the width says.
  // CHECK-LABEL: gpu.func @up
  // CHECK-SAME:    %[[X:.*]]: f32, %[[OFFSET:.*]]: i32, %[[WIDTH:.*]]: i32
  // CHECK:         %[[LANE:.*]] = arith.index_castui %{{.*}} : index to i32
  // CHECK:         %[[MASK:.*]] = arith.subi %{{.*}}, %[[WIDTH]] : i32
  // CHECK:         %[[FIRST:.*]] = arith.andi %[[LANE]], %[[MASK]] : i32
  // CHECK:         %[[FROM:.*]] = arith.subi %[[LANE]], %[[OFFSET]] : i32
  // CHECK:         %[[VALID:.*]] = arith.cmpi sge, %[[FROM]], %[[FIRST]] : i32
  // CHECK:         %[[SOURCE:.*]] = arith.select %[[VALID]], %[[FROM]], %[[LANE]] : i32
  // CHECK:         %[[ADDRESS:.*]] = arith.shli %[[SOURCE]], %{{.*}} : i32
  // CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
  // CHECK:         %[[READ:.*]] = rocdl.ds_bpermute %[[ADDRESS]], %[[BITS]]
  // CHECK:         arith.bitcast %[[READ]] : i32 to f32
  // ASM-LABEL: up:
  // ASM:         ds_bpermute_b32
  gpu.func @up(%x: f32, %offset: i32, %width: i32, %out: memref<f32>) kernel {
    %r, %valid = gpu.shuffle up %x, %offset, %width : f32
    %zero = arith.constant 0.0 : f32
    %y = arith.select %valid, %r, %zero : f32
    memref.store %y, %out[] : memref<f32>
    gpu.return
  }

  // Wide values go in two halves, narrow ones in a word.
  // CHECK-LABEL: gpu.func @sizes
  // CHECK-COUNT-2: rocdl.ds_bpermute %{{.*}} : (i32, i32) -> i32
  // CHECK:         %[[WORD:.*]] = arith.extui %{{.*}} : i16 to i32
  // CHECK:         rocdl.ds_bpermute %{{.*}}, %[[WORD]]
  gpu.func @sizes(%x: i64, %y: i16, %out: memref<i64>, %narrow: memref<i16>) kernel {
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
    %r, %valid = gpu.shuffle idx %x, %c3, %c64 : i64
    memref.store %r, %out[] : memref<i64>
    %s, %also = gpu.shuffle xor %y, %c3, %c64 : i16
    memref.store %s, %narrow[] : memref<i16>
    gpu.return
  }
}

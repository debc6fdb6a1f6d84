// RUN: hirc-opt %s -p 'gpu.module(shuffle-in-words)' | FileCheck %s
// RUN: hirc %s --emit=ptx --offload-arch=sm_90 -o - | FileCheck %s --check-prefix=PTX
// RUN: hirc %s --emit=asm --offload-arch=gfx90a -o - | FileCheck %s --check-prefix=ASM

gpu.module @m {
  // CHECK-LABEL: gpu.func @half
  // CHECK-SAME:    %[[X:.*]]: f16, %[[OFFSET:.*]]: i32, %[[WIDTH:.*]]: i32
  // CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : f16 to i16
  // CHECK:         %[[WORD:.*]] = arith.extui %[[BITS]] : i16 to i32
  // CHECK:         %[[READ:.*]], %[[VALID:.*]] = gpu.shuffle down %[[WORD]], %[[OFFSET]], %[[WIDTH]] : i32
  // CHECK:         %[[CUT:.*]] = arith.trunci %[[READ]] : i32 to i16
  // CHECK:         %[[R:.*]] = arith.bitcast %[[CUT]] : i16 to f16
  // CHECK:         arith.select %[[VALID]], %[[R]], %[[X]] : f16
  // PTX-LABEL: .entry half
  // PTX:       shfl.sync.down.b32
  // ASM-LABEL: half:
  // ASM:       ds_bpermute_b32
  gpu.func @half(%x: f16, %offset: i32, %width: i32, %out: memref<f16>) kernel {
    %r, %valid = gpu.shuffle down %x, %offset, %width : f16
    %y = arith.select %valid, %r, %x : f16
    memref.store %y, %out[] : memref<f16>
    gpu.return
  }

  // Each element by itself; those of 128 bits are four words.
  // CHECK-LABEL: gpu.func @vectors
  // CHECK-COUNT-2: gpu.shuffle xor {{.*}} : f32
  // CHECK:         vector.from_elements
  // CHECK-COUNT-4: gpu.shuffle xor {{.*}} : i32
  // CHECK:         gpu.shuffle idx {{.*}} : i64
  // PTX-LABEL: .entry vectors
  gpu.func @vectors(%x: vector<2xf32>, %z: i128, %i: i64, %offset: i32, %width: i32,
                    %a: memref<vector<2xf32>>, %b: memref<i128>, %c: memref<i64>) kernel {
    %r, %valid = gpu.shuffle xor %x, %offset, %width : vector<2xf32>
    memref.store %r, %a[] : memref<vector<2xf32>>
    %s, %valid2 = gpu.shuffle xor %z, %offset, %width : i128
    memref.store %s, %b[] : memref<i128>
    %t, %valid3 = gpu.shuffle idx %i, %offset, %width : i64
    memref.store %t, %c[] : memref<i64>
    gpu.return
  }
}

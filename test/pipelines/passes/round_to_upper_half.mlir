// RUN: hirc-opt %s -p "gpu.module(round-to-upper-half{chips=sm_90a})" | FileCheck %s
// RUN: hirc-opt %s -p "gpu.module(round-to-upper-half{chips=sm_75+sm_90})" | FileCheck %s --check-prefix=NOT
// RUN: hirc-opt %s -p "gpu.module(round-to-upper-half)" | FileCheck %s --check-prefix=NOT

// f32 rounded to bf16 and extended again is one instruction, which fills the lower half with zeros.

// CHECK-LABEL: gpu.func @kept(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: f32
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK:         %[[HALVES:.*]] = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%[[X]], %[[ZERO]])
// CHECK-SAME:      -> vector<2xbf16>
// CHECK:         %[[Y:.*]] = llvm.bitcast %[[HALVES]] : vector<2xbf16> to f32
// CHECK:         math.absf %[[Y]]

// Element by element of a vector.

// CHECK-LABEL: gpu.func @vectors(
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"
// CHECK:         vector.from_elements

// Not f16, rounding of another kind, or what was bf16 before; nor where all that follows are sums of
// bf16 that are rounded to it again.

// CHECK-LABEL: gpu.func @others(
// CHECK-NOT:     ff2bf16x2
// CHECK:         gpu.return

// One sum whose other operand is f32, or that is kept as it is, is none of them.

// CHECK-LABEL: gpu.func @nearly_sums(
// CHECK-COUNT-2: ff2bf16x2
// CHECK-NOT:     ff2bf16x2

// NOT-NOT: ff2bf16x2
gpu.module @kernels {
  gpu.func @kept(%x: f32, %y: memref<f32>) kernel {
    %r = arith.truncf %x : f32 to bf16
    %e = arith.extf %r : bf16 to f32
    %a = math.absf %e : f32
    memref.store %a, %y[] : memref<f32>
    gpu.return
  }
  gpu.func @vectors(%x: vector<2xf32>, %y: memref<vector<2xf32>>) kernel {
    %r = arith.truncf %x : vector<2xf32> to vector<2xbf16>
    %e = arith.extf %r : vector<2xbf16> to vector<2xf32>
    memref.store %e, %y[] : memref<vector<2xf32>>
    gpu.return
  }
  gpu.func @others(%x: f32, %b: bf16, %y: memref<f32>, %z: memref<bf16>) kernel {
    %h = arith.truncf %x : f32 to f16
    %a = arith.extf %h : f16 to f32
    memref.store %a, %y[] : memref<f32>
    %t = arith.truncf %x toward_zero : f32 to bf16
    %c = arith.extf %t : bf16 to f32
    memref.store %c, %y[] : memref<f32>
    %d = arith.extf %b : bf16 to f32
    memref.store %d, %y[] : memref<f32>
    %r = arith.truncf %x : f32 to bf16
    %e = arith.extf %r : bf16 to f32
    %s = arith.addf %e, %d : f32
    %n = arith.truncf %s : f32 to bf16
    memref.store %n, %z[] : memref<bf16>
    gpu.return
  }
  gpu.func @nearly_sums(%x: f32, %b: bf16, %y: memref<f32>, %z: memref<bf16>) kernel {
    %d = arith.extf %b : bf16 to f32
    %r = arith.truncf %x : f32 to bf16
    %e = arith.extf %r : bf16 to f32
    %s = arith.addf %e, %x : f32
    %n = arith.truncf %s : f32 to bf16
    memref.store %n, %z[] : memref<bf16>
    %r2 = arith.truncf %s : f32 to bf16
    %e2 = arith.extf %r2 : bf16 to f32
    %s2 = arith.subf %e2, %d : f32
    memref.store %s2, %y[] : memref<f32>
    gpu.return
  }
}

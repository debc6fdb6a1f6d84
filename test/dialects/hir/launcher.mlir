// RUN: hirc-opt %s | hirc-opt | FileCheck %s
// RUN: hirc-opt %s -p convert-hir-to-gpu | FileCheck %s --check-prefix=LOWERED

gpu.module @kernels {
  gpu.func @scale(%x: !llvm.ptr, %n: index, %s: f32) kernel {
    gpu.return
  }
  gpu.func @whole(%x: memref<?xf32>) kernel {
    gpu.return
  }
}
// CHECK:      "hir.program"()
// CHECK:        "hir.run_launcher"() ({
// CHECK-NEXT:     "hir.argument"(%{{.*}}) : (memref<?xf32>) -> ()
// CHECK-NEXT:     "hir.argument"(%{{.*}}) : (index) -> ()
// CHECK-NEXT:   }) {launcher = @launch_scale} : () -> ()
// CHECK:      "hir.launcher"() ({
// CHECK-NEXT: ^bb0(%{{.*}}: memref<?xf32>, %{{.*}}: index):
// CHECK:      }) {sym_name = "launch_scale"} : () -> ()

// A buffer of which a kernel takes the address is an address, and its place in the program is the
// caller's.

// LOWERED-LABEL: func.func private @hirc_body_main(%arg0: memref<?xf32>, %arg1: !llvm.ptr)
// LOWERED:         call @hirc_launch_scale(%{{.*}}, %{{.*}}, %arg1, %{{.*}}) : (!llvm.ptr, index, !llvm.ptr, !llvm.ptr) -> ()
// LOWERED:         call @hirc_launch_whole(%arg0, %arg1, %{{.*}}) : (memref<?xf32>, !llvm.ptr, !llvm.ptr) -> ()
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  "hir.run_launcher"() ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
    "hir.argument"(%n) : (index) -> ()
  }) {launcher = @launch_scale} : () -> ()
  "hir.run_launcher"() ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
  }) {launcher = @launch_whole} : () -> ()
}) {sym_name = "main", function_type = (memref<?xf32>) -> ()} : () -> ()

// LOWERED-LABEL: func.func private @hirc_launch_scale(%arg0: !llvm.ptr, %arg1: index, %arg2: !llvm.ptr, %arg3: !llvm.ptr)
// LOWERED:         gpu.launch_func {{.*}} @kernels::@scale {{.*}} args(%arg0 : !llvm.ptr, %arg1 : index
"hir.launcher"() ({
^bb0(%x: memref<?xf32>, %n: index):
  %one = arith.constant 1 : index
  %none = arith.constant 0 : index
  %s = arith.constant 2.0 : f32
  "hir.launch"(%n, %one, %one, %one, %one, %one, %none) ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
    "hir.argument"(%n) : (index) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "launch_scale"} : () -> ()
"hir.launcher"() ({
^bb0(%x: memref<?xf32>):
  %one = arith.constant 1 : index
  %none = arith.constant 0 : index
  "hir.launch"(%one, %one, %one, %one, %one, %one, %none) ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
  }) {kernel = @kernels::@whole} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "launch_whole"} : () -> ()

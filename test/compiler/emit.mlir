// What each kind of output holds.
// RUN: hirc %s --offload-arch=sm_90,sm_80 --emit=mlir -o - | FileCheck %s --check-prefix=MLIR
// RUN: hirc %s --offload-arch=sm_90,sm_80 --emit=llvm -o - | FileCheck %s --check-prefix=LLVM
// RUN: hirc %s --offload-arch=sm_90 --emit=device-llvm -o - | FileCheck %s --check-prefix=DEVICE
// RUN: hirc %s --offload-arch=sm_90 --emit=ptx -o - | FileCheck %s --check-prefix=PTX

// The host's MLIR, with one image a chip and no gpu.module.
// MLIR-NOT:   gpu.module
// MLIR-LABEL: llvm.func @main() -> i32
// MLIR:       "offload.entry"() {device_name = "main_kernel__{{[0-9a-f]+}}", host = @main_kernel__{{.*}}_stub, kind = "kernel", size = 0 : i64}
// MLIR:       "offload.image"() {arch = "sm_90", data = dense<{{.*}}i8>, format = "bitcode", triple = "nvptx64-nvidia-cuda"}
// MLIR:       "offload.image"() {arch = "sm_80", data = dense<{{.*}}i8>, format = "bitcode", triple = "nvptx64-nvidia-cuda"}

// The host's LLVM IR, with the entry and the images where clang 22 looks for them.
// LLVM:     target triple = "x86_64-pc-linux-gnu"
// LLVM:     @[[STUB:main_kernel__[0-9a-f]+_stub]] = internal constant i8 0
// LLVM:     @[[NAME:.offloading.entry_name.0]] = internal unnamed_addr constant [26 x i8] c"main_kernel__{{[0-9a-f]+}}\00", section ".llvm.rodata.offloading"
// LLVM:     @.offloading.entry.main_kernel__{{[0-9a-f]+}} = weak {{.*}}constant { i64, i16, i16, i32, ptr, ptr, i64, i64, ptr } { i64 0, i16 1, i16 2, i32 0, ptr @[[STUB]], ptr @[[NAME]], i64 0, i64 0, ptr null }, section "llvm_offload_entries", align 8
// LLVM:     @llvm.embedded.object = private constant {{.*}}\10\FF\10\AD{{.*}}, section ".llvm.offloading", align 8, !exclude
// LLVM:     @llvm.compiler.used = appending global {{.*}}@llvm.embedded.object
// LLVM:     define {{.*}}i32 @main()
// LLVM-DAG: !llvm.offloading.symbols = !{![[SYMBOL:[0-9]+]]}
// LLVM-DAG: !llvm.embedded.objects = !{![[OBJECT:[0-9]+]]}
// LLVM-DAG: ![[SYMBOL]] = !{ptr @[[NAME]]}
// LLVM-DAG: ![[OBJECT]] = !{ptr @llvm.embedded.object, !".llvm.offloading"}

// The device's LLVM IR: optimised, libdevice inlined, nothing else visible.
// DEVICE:     target triple = "nvptx64-nvidia-cuda"
// DEVICE:     define ptx_kernel void @main_kernel(
// DEVICE-NOT: define
// DEVICE-NOT: __nv_

// PTX: .version 9.0
// PTX: .target sm_90
// PTX: .visible .entry main_kernel(
// PTX: ex2.approx
func.func @main() {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = gpu.alloc () : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %0 = memref.load %m[%tx] : memref<32xf32>
    %1 = math.exp %0 : f32
    memref.store %1, %m[%tx] : memref<32xf32>
    gpu.terminator
  }
  gpu.dealloc %m : memref<32xf32>
  return
}

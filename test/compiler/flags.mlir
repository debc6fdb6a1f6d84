// Options that change the device code.
// RUN: hirc %s --offload-arch=sm_90 --emit=ptx -o - | FileCheck %s --check-prefix=EXACT
// RUN: hirc %s --offload-arch=sm_90 --emit=ptx --fast-math -o - | FileCheck %s --check-prefix=FAST
// RUN: hirc %s --offload-arch=sm_90 --emit=ptx --ftz -o - | FileCheck %s --check-prefix=FTZ
// RUN: hirc %s --offload-arch=sm_90 --emit=ptx -g -o - | FileCheck %s --check-prefix=LINES
// RUN: hirc %s --offload-arch=sm_90 --emit=ptx --kernel-bare-pointers -o - | FileCheck %s --check-prefix=BARE

// Division and square root are IEEE's, denormals are kept.
// EXACT:     .target sm_90
// EXACT-NOT: .ftz
// EXACT:     div.rn.f32
// EXACT-NOT: .ftz
// EXACT:     sqrt.rn.f32
// EXACT-NOT: .loc

// FAST:     .target sm_90
// FAST-NOT: {{(div|sqrt)}}.rn
// FAST-DAG: div.approx
// FAST-DAG: sqrt.approx

// FTZ:     div.rn.ftz.f32
// FTZ:     sqrt.rn.ftz.f32

// LINES:      .loc {{.*}}1 [[# @LINE + 19]] 10
// LINES-NEXT: div.rn.f32
// LINES:      .loc {{.*}}1 [[# @LINE + 18]] 10
// LINES-NEXT: sqrt.rn.f32
// LINES:      .file {{.*}}1 "{{.*}}flags.mlir"

// One pointer, where a descriptor has five fields.
// BARE:      .visible .entry main_kernel(
// BARE-NEXT: .param .u64 {{.*}}param_0
// BARE-NEXT: )
func.func @main() {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = gpu.alloc () : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %0 = memref.load %m[%tx] : memref<32xf32>
    %c3 = arith.constant 3.0 : f32
    %x = arith.addf %0, %c3 : f32
    %1 = arith.divf %0, %x : f32
    %2 = math.sqrt %1 : f32
    memref.store %2, %m[%tx] : memref<32xf32>
    gpu.terminator
  }
  gpu.dealloc %m : memref<32xf32>
  return
}

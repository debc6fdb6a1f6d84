// What --print-pipeline prints runs in hirc-opt, and does what hirc does.
// RUN: hirc --print-pipeline --offload-arch=sm_90 > %t.pipeline
// RUN: FileCheck %s --check-prefix=STAGES --input-file %t.pipeline
// RUN: sh -c 'hirc-opt "$1" -p "$(cat "$2")"' sh %s %t.pipeline | FileCheck %s
// RUN: sh -c 'hirc-opt "$1" -p "builtin.module($(cat "$2"))"' sh %s %t.pipeline | FileCheck %s

// STAGES:      // kernels
// STAGES-NEXT: {{.*}}gpu-kernel-outlining{{.*}}add-entry-point{entry=main required=true}
// STAGES-NEXT: // entries
// STAGES-NEXT: {{.*}}name-device-symbols{unit=unit},add-offload-entries{unit=unit}
// STAGES-NEXT: // runtime-calls
// STAGES-NEXT: convert-gpu-host-to-cuda{bare-pointers=false {{.*}}}
// STAGES-NEXT: // device
// STAGES-NEXT: gpu.module({{.*}}convert-gpu-to-nvvm{{.*}})
// STAGES-NEXT: // host
// STAGES-NEXT: {{.*}}convert-func-to-llvm{{.*}}

// CHECK-LABEL: llvm.func @hirc_entry_main()
// CHECK:         llvm.call @hirc_launch(
// CHECK-LABEL: gpu.module @main_kernel
// CHECK:         llvm.func @main_kernel__unit({{.*}}nvvm.kernel
// CHECK:       "offload.entry"() {device_name = "main_kernel__unit"
func.func @main() {
  %c1 = arith.constant 1 : index
  %m = gpu.alloc () : memref<1xindex>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %tx, %m[%tx] : memref<1xindex>
    gpu.terminator
  }
  return
}

// What each stage hands to the next.
// RUN: hirc %s --offload-arch=sm_90 --stop-after=kernels | FileCheck %s --check-prefix=KERNELS
// RUN: hirc %s --offload-arch=sm_90 --stop-after=entries | FileCheck %s --check-prefix=ENTRIES
// RUN: hirc %s --offload-arch=sm_90 --stop-after=runtime-calls | FileCheck %s --check-prefix=CALLS
// RUN: hirc %s --offload-arch=sm_90 --stop-after=device | FileCheck %s --check-prefix=DEVICE
// RUN: hirc %s --offload-arch=sm_90 --stop-after=host | FileCheck %s --check-prefix=HOST

// Fills and launches are kernels in modules of their own, and main is C's.
// KERNELS-NOT:   gpu.memset
// KERNELS-NOT:   gpu.launch blocks
// KERNELS-NOT:   affine.
// KERNELS-NOT:   linalg.
// KERNELS-LABEL: func.func private @hirc_entry_main()
// KERNELS:         gpu.launch_func @main_kernel::@main_kernel
// KERNELS:         gpu.launch_func @device::@work
// KERNELS:       gpu.module @main_kernel
// KERNELS:         gpu.func @main_kernel({{.*}} kernel
// KERNELS-LABEL: func.func @main() -> i32

// Kernels have names of their own, and each an entry and a stub.
// ENTRIES-DAG: llvm.mlir.global internal constant @[[STUB:work_stub]](0 : i8)
// ENTRIES:     gpu.module @device
// ENTRIES:       gpu.func @[[WORK:work]]({{.*}} kernel
// ENTRIES:     gpu.launch_func @device::@[[WORK]]
// ENTRIES:     "offload.entry"() {device_name = "[[WORK]]", host = @[[STUB]], kind = "kernel", size = 0 : i64}
// ENTRIES:     "offload.entry"() {device_name = "device__counts__{{.*}}", host = @counts, kind = "global", size = 4 : i64}

// No gpu operation is left on the host; the device side is untouched.
// CALLS:       gpu.module @device
// CALLS:         gpu.thread_id
// CALLS-LABEL: func.func private @hirc_entry_main()
// CALLS-NOT:     gpu.
// CALLS:         llvm.call @cudaMallocAsync
// CALLS-NOT:     gpu.
// CALLS:         llvm.call @hirc_launch(
// CALLS-NOT:     gpu.
// CALLS:         llvm.call @hirc_launch(
// CALLS-NOT:     gpu.
// CALLS:         llvm.call @cudaFree
// CALLS:         scf.for

// The device side is LLVM's dialects alone; the host side is untouched.
// DEVICE:       gpu.module @device
// DEVICE:         llvm.func @work({{.*}} nvvm.kernel
// DEVICE-NEXT:      llvm.mlir.addressof
// DEVICE:           nvvm.read.ptx.sreg.tid.x
// DEVICE:           llvm.return
// DEVICE-LABEL: func.func private @hirc_entry_main()
// DEVICE:         memref.dim

// The host side is too.
// HOST-LABEL: llvm.func @hirc_entry_main()
// HOST-NOT:     {{(func|arith|memref|scf|cf|linalg|affine|builtin)\.}}
// HOST:         llvm.call @hirc_launch(
// HOST-NOT:     {{(func|arith|memref|scf|cf|linalg|affine|builtin)\.}}
// HOST-LABEL: llvm.func @main() -> i32
// HOST:         llvm.call @hirc_program_end
// HOST:       "offload.entry"()
module attributes {gpu.container_module} {
  memref.global "private" @counts : memref<1xi32>
  gpu.module @device {
    memref.global @counts : memref<1xi32> = dense<7>
    gpu.func @work(%m: memref<?xf32>) kernel {
      %zero = arith.constant 0 : index
      %thread = gpu.thread_id x
      %0 = memref.get_global @counts : memref<1xi32>
      %1 = memref.load %0[%zero] : memref<1xi32>
      %2 = arith.sitofp %1 : i32 to f32
      memref.store %2, %m[%thread] : memref<?xf32>
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %one = arith.constant 1.0 : f32
    %m = gpu.alloc (%c32) : memref<?xf32>
    gpu.memset %m, %one : memref<?xf32>, f32
    gpu.launch_func @device::@work blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%m : memref<?xf32>)
    gpu.dealloc %m : memref<?xf32>
    %h = memref.alloc() : memref<4xf32>
    linalg.fill ins(%one : f32) outs(%h : memref<4xf32>)
    affine.for %i = 0 to 4 {
      affine.store %one, %h[%i] : memref<4xf32>
    }
    memref.dealloc %h : memref<4xf32>
    return
  }
}

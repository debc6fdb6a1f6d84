// RUN: hirc-opt %s --add-offload-entries --convert-gpu-host-to-cuda --verify-diagnostics

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k() kernel { gpu.return } }
func.func @no_pointer(%stream: i64, %n: index) {
  // expected-error @below {{a CUDA stream is an !llvm.ptr, not i64}}
  gpu.launch_func <%stream : i64> @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
  return
}
}

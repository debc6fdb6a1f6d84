// RUN: hirc-opt %s --add-offload-entries --convert-gpu-host-to-cuda | FileCheck %s

// The launch goes to the stream the program gives, and the program waits for it.
// CHECK-LABEL: func.func @given(
// CHECK-SAME:      %[[STREAM:.*]]: !llvm.ptr)
// CHECK-NOT:     hirc_stream
// CHECK:         llvm.call @hirc_launch({{.*}}, %[[STREAM]], %{{[0-9]+}}) :
// CHECK-NEXT:    return
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @given(%stream: !llvm.ptr) {
    %one = arith.constant 1 : index
    gpu.launch_func <%stream : !llvm.ptr> @m::@k blocks in (%one, %one, %one) threads in (%one, %one, %one)
    return
  }
}

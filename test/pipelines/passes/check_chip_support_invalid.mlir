// RUN: hirc-opt %s --pass-pipeline='builtin.module(gpu.module(check-chip-support{chips=sm_90a}))' --split-input-file | FileCheck %s
// RUN: hirc-opt %s --pass-pipeline='builtin.module(gpu.module(check-chip-support{chips=sm_75+sm_90}))' --split-input-file --verify-diagnostics

// sm_90a has all of these.
// CHECK: nvvm.cluster.arrive
gpu.module @clusters {
  llvm.func @arrive() {
    // expected-error @below {{'nvvm.cluster.arrive' needs sm_90 or newer, not sm_75}}
    nvvm.cluster.arrive
    llvm.return
  }
}

// -----

// CHECK: nvvm.wgmma.fence.aligned
gpu.module @warpgroups {
  llvm.func @fence() {
    // expected-error @below {{'nvvm.wgmma.fence.aligned' needs --offload-arch=sm_90a, not sm_75}}
    nvvm.wgmma.fence.aligned
    llvm.return
  }
}

// -----

// CHECK: nvvm.mma.sync
gpu.module @products {
  llvm.func @multiply(%a: vector<2xf16>, %c: f32) {
    // expected-error @below {{'nvvm.mma.sync' needs sm_80 or newer, not sm_75}}
    %product = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c, %c, %c, %c]
        {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
         shape = #nvvm.shape<m = 16, n = 8, k = 16>}
        : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

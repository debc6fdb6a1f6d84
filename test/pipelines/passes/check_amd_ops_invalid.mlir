// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'check-amd-ops{chips=gfx90a+gfx942}'

gpu.module @copies {
  gpu.func @wait() kernel {
    // expected-error @below {{'nvvm.cp.async.wait.group' is an instruction of NVIDIA's chips, which gfx90a and gfx942 do not have; write the kernel in the gpu, vector and memref dialects}}
    nvvm.cp.async.wait.group 0
    gpu.return
  }
}

// -----

gpu.module @matrices {
  gpu.func @zero() kernel {
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{'gpu.subgroup_mma_constant_matrix' is for NVIDIA's chips}}
    %m = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf32, "COp">
    gpu.return
  }
}

// -----

gpu.module @clusters {
  gpu.func @rank(%out: memref<index>) kernel {
    // expected-error @below {{'gpu.cluster_id' is of a cluster of blocks, which gfx90a and gfx942 do not have}}
    %x = gpu.cluster_id x
    memref.store %x, %out[] : memref<index>
    gpu.return
  }
}

// -----

// A launch with clusters is refused, and one without is not.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @launch() {
    %one = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one)
    // expected-error @below {{'gpu.launch_func' is of a cluster of blocks}}
    gpu.launch_func @kernels::@k clusters in (%one, %one, %one)
        blocks in (%one, %one, %one) threads in (%one, %one, %one)
    return
  }
}

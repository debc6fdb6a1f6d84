// RUN: hirc-opt %s --check-launch-sizes --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {known_grid_size = array<i32: 2, 1, 1>} {
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 4 blocks in x; 'known_grid_size' of kernel 'k' says 2}}
    gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {gpu.known_grid_size = array<i32: 4, 1, 2>} {
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 1 blocks in z; 'gpu.known_grid_size' of kernel 'k' says 2}}
    gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {known_block_size = array<i32: 1, 2, 1>} {
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 4 threads in y; 'known_block_size' of kernel 'k' says 2}}
    gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c1, %c4, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {nvvm.reqntid = array<i32: 4>} {
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 4 threads in y; 'nvvm.reqntid' of kernel 'k' says 1}}
    gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c4, %c4, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {nvvm.maxntid = array<i32: 8>} {
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 16 threads; 'nvvm.maxntid' of kernel 'k' says at most 8}}
    gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c4, %c4, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 4 blocks in a cluster in x; 'nvvm.cluster_dim' of kernel 'k' says 2}}
    gpu.launch_func @m::@k clusters in (%c4, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c4, %c4, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {known_cluster_size = array<i32: 2, 1, 1>} {
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 4 blocks in a cluster in x; 'known_cluster_size' of kernel 'k' says 2}}
    gpu.launch_func @m::@k clusters in (%c4, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c4, %c4, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {} {
      %b = gpu.block_id x upper_bound 3
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 4 blocks in x; 'gpu.block_id upper_bound' of kernel 'k' says at most 3}}
    gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {} {
      %b = gpu.block_dim y upper_bound 3
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 4 threads in y; 'gpu.block_dim upper_bound' of kernel 'k' says at most 3}}
    gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c1, %c4, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel attributes {} {
      %b = gpu.global_id x upper_bound 15
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{the launch has 16 threads in x; 'gpu.global_id upper_bound' of kernel 'k' says at most 15}}
    gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c4, %c4, %c1)
    return
  }
}

// -----

gpu.module @m {
  func.func @lanes() -> index {
    // expected-error @+1 {{upper_bound 16 is wrong: a warp has 32 lanes}}
    %l = gpu.lane_id upper_bound 16
    return %l : index
  }
}

// RUN: hirc-opt %s --split-input-file --promote-shared-memory --verify-diagnostics

module attributes {gpu.container_module} {
gpu.module @m {
  // expected-error @below {{workgroup memory has a static size, not memref<?xf32, #gpu.address_space<workgroup>>}}
  gpu.func @k() workgroup(%a: memref<?xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m {
  func.func private @helper() -> i8 {
    %zero = arith.constant 0 : index
    // expected-error @below {{'helper' uses dynamic shared memory and is called by kernels whose own begins at different offsets, after more than 48 KB of workgroup memory; pass the buffer to it instead}}
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %v = memref.load %own[%zero] : memref<?xi8, #gpu.address_space<workgroup>>
    return %v : i8
  }
  gpu.func @large() workgroup(%a: memref<20000xf32, #gpu.address_space<workgroup>>) kernel {
    %v = func.call @helper() : () -> i8
    gpu.return
  }
  gpu.func @small() kernel {
    %v = func.call @helper() : () -> i8
    gpu.return
  }
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m {
  // expected-error @below {{more than 48 KB of workgroup memory cannot have the layout of memref<20000xf32, strided<[2]>, #gpu.address_space<workgroup>>}}
  gpu.func @k() workgroup(%a: memref<20000xf32, strided<[2]>, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}
}

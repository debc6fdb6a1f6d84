// RUN: hirc-opt %s --promote-shared-memory --verify-diagnostics

module attributes {gpu.container_module} {
gpu.module @m {
  // expected-error @below {{workgroup memory has a static size, not memref<?xf32, #gpu.address_space<workgroup>>}}
  gpu.func @k() workgroup(%a: memref<?xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}
}

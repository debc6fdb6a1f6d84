// RUN: hirc-opt %s '--convert-gpu-host-to-cuda=max-shared-bytes=100000' --split-input-file --verify-diagnostics

// What no chip takes is refused where it is a constant.
module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k() kernel { gpu.return } }
func.func @threads(%n: index) {
  %c33 = arith.constant 33 : index
  // expected-error @below {{a block of 1089 threads; CUDA takes at most 1024}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%c33, %c33, %n)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k() kernel { gpu.return } }
func.func @depth(%n: index) {
  %c65 = arith.constant 65 : index
  // expected-error @below {{block size z is 65; CUDA takes 1 to 64}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %c65)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k() kernel { gpu.return } }
func.func @empty(%n: index) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{grid size x is 0; CUDA takes 1 to 2147483647}}
  gpu.launch_func @m::@k blocks in (%c0, %n, %n) threads in (%n, %n, %n)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k() kernel { gpu.return } }
func.func @rows(%n: index) {
  %c65536 = arith.constant 65536 : index
  // expected-error @below {{grid size y is 65536; CUDA takes 1 to 65535}}
  gpu.launch_func @m::@k blocks in (%n, %c65536, %n) threads in (%n, %n, %n)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k() kernel { gpu.return } }
func.func @shared(%n: index) {
  %bytes = arith.constant 100001 : i32
  // expected-error @below {{100001 bytes of shared memory a block; the chips this is built for have 100000}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %bytes
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k() kernel { gpu.return } }
func.func @negative(%n: index) {
  %bytes = arith.constant -1 : i32
  // expected-error @below {{-1 bytes of shared memory a block}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %bytes
  return
}
}

// -----

// Static shared memory, of the kernel and of what it calls, counts too.
module attributes {gpu.container_module} {
gpu.module @m {
  memref.global "private" @tile : memref<2000xf32, #gpu.address_space<workgroup>>
  memref.global "private" @other : memref<9000xf32, #gpu.address_space<workgroup>>
  func.func @first() -> f32 {
    %zero = arith.constant 0 : index
    %tile = memref.get_global @tile : memref<2000xf32, #gpu.address_space<workgroup>>
    %value = memref.load %tile[%zero] : memref<2000xf32, #gpu.address_space<workgroup>>
    return %value : f32
  }
  gpu.func @k() workgroup(%own: memref<500xf32, #gpu.address_space<workgroup>>) kernel {
    func.call @first() : () -> f32
    gpu.return
  }
}
func.func @fits(%n: index) {
  %bytes = arith.constant 90000 : i32
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %bytes
  return
}
func.func @much(%n: index) {
  %bytes = arith.constant 90001 : i32
  // expected-error @below {{100001 bytes of shared memory a block; the chips this is built for have 100000}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %bytes
  return
}
}

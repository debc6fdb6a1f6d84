// RUN: hirc-opt %s --add-offload-entries --convert-gpu-host-to-cuda --split-input-file --verify-diagnostics

// LLVM packs these into one byte, and device code reads eight.
module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: vector<8xi1>) kernel { gpu.return } }
func.func @flags(%v: vector<8xi1>, %n: index) {
  // expected-error @below {{vector<8xi1> cannot be a kernel argument: its elements are no whole bytes of a power of two; widen them, to i8 at least}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : vector<8xi1>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: vector<4xf4E2M1FN>) kernel { gpu.return } }
func.func @nibbles(%v: vector<4xf4E2M1FN>, %n: index) {
  // expected-error @below {{vector<4xf4E2M1FN> cannot be a kernel argument: its elements are no whole bytes of a power of two; widen them, to i8 at least}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : vector<4xf4E2M1FN>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: vector<2xi24>) kernel { gpu.return } }
func.func @triples(%v: vector<2xi24>, %n: index) {
  // expected-error @below {{vector<2xi24> cannot be a kernel argument: its elements are no whole bytes of a power of two; widen them, to i8 at least}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : vector<2xi24>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: vector<[4]xf32>) kernel { gpu.return } }
func.func @scalable(%v: vector<[4]xf32>, %n: index) {
  // expected-error @below {{vector<[4]xf32> cannot be a kernel argument: its size is not known}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : vector<[4]xf32>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: i7) kernel { gpu.return } }
func.func @odd(%v: i7, %n: index) {
  // expected-error @below {{i7 cannot be a kernel argument: PTX has no parameter of its width; convert it to one of 8, 16, 32, 64 or 128 bits}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : i7)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: f80) kernel { gpu.return } }
func.func @extended(%v: f80, %n: index) {
  // expected-error @below {{f80 cannot be a kernel argument: PTX has no parameter of its width; convert it to one of 8, 16, 32, 64 or 128 bits}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : f80)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: complex<i7>) kernel { gpu.return } }
func.func @odd_complex(%v: complex<i7>, %n: index) {
  // expected-error @below {{complex<i7> cannot be a kernel argument: PTX has no parameter of its width; convert it to one of 8, 16, 32, 64 or 128 bits}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : complex<i7>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: tensor<4xf32>) kernel { gpu.return } }
func.func @tensor(%v: tensor<4xf32>, %n: index) {
  // expected-error @below {{tensor<4xf32> cannot be a kernel argument: tensors must be bufferized first}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : tensor<4xf32>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: none) kernel { gpu.return } }
func.func @nothing(%v: none, %n: index) {
  // expected-error @below {{none cannot be a kernel argument: it has no counterpart in LLVM; pass its parts}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : none)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: tuple<i32, i32>) kernel { gpu.return } }
func.func @pair(%v: tuple<i32, i32>, %n: index) {
  // expected-error @below {{tuple<i32, i32> cannot be a kernel argument: it has no counterpart in LLVM; pass its parts}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : tuple<i32, i32>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: memref<*xf32>) kernel { gpu.return } }
func.func @unranked(%v: memref<*xf32>, %n: index) {
  // expected-error @below {{memref<*xf32> cannot be a kernel argument: its rank is not known; memref.cast it to a ranked type}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : memref<*xf32>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: memref<4xmemref<4xf32>>) kernel { gpu.return } }
func.func @nested(%v: memref<4xmemref<4xf32>>, %n: index) {
  // expected-error @below {{memref<4xmemref<4xf32>> cannot be a kernel argument: its elements describe memory by host addresses; pass one memref for each}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : memref<4xmemref<4xf32>>)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.module @m { gpu.func @k(%v: memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>) kernel { gpu.return } }
func.func @no_strides(%v: memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>, %n: index) {
  // expected-error @below {{memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>> cannot be a kernel argument: its layout has no strides; use a strided one}}
  gpu.launch_func @m::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%v : memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>)
  return
}
}

// RUN: hirc-opt %s --check-launch-extents --split-input-file --verify-diagnostics

func.func @block() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{block size x is 0; CUDA takes 1 to 1024}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c0, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}

// -----

func.func @grid() {
  %c0 = arith.constant -3 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{grid size z is -3; CUDA takes 1 to 65535}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c0)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}

// -----

func.func @cluster() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{cluster size y is 0; CUDA takes 1 to 16}}
  gpu.launch clusters(%cx, %cy, %cz) in (%kx = %c1, %ky = %c0, %kz = %c1)
             blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}

// -----

func.func @blocks_of_a_cluster() {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{a cluster of 256 blocks; CUDA takes at most 16}}
  gpu.launch clusters(%cx, %cy, %cz) in (%kx = %c16, %ky = %c16, %kz = %c1)
             blocks(%bx, %by, %bz) in (%gx = %c16, %gy = %c16, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}

// -----

func.func @shared() {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant -1 : i32
  // expected-error @below {{-1 bytes of shared memory a block}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %bytes {
    gpu.terminator
  }
  return
}

// -----

// What is not known yet the run refuses.
func.func @open(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  return
}

// RUN: hirc-opt %s --check-launch-sizes | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @grid() kernel attributes {known_grid_size = array<i32: 4, 2, 1>, known_block_size = array<i32: 32, 1, 1>} {
      gpu.return
    }
    func.func @helper() -> index {
      %b = gpu.block_id y upper_bound 3
      return %b : index
    }
    gpu.func @bounds() kernel {
      %t = gpu.thread_id x upper_bound 64
      %l = gpu.lane_id upper_bound 32
      %b = func.call @helper() : () -> index
      %g = gpu.global_id z upper_bound 100
      gpu.return
    }
    llvm.func @llvm() attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64>, nvvm.maxntid = array<i32: 8, 8>} {
      llvm.return
    }
    gpu.func @cluster() kernel attributes {known_cluster_size = array<i32: 2, 1, 1>} {
      gpu.return
    }
    gpu.func @nothing() kernel {
      gpu.return
    }
  }

  // CHECK-LABEL: func.func @constant
  // CHECK-NOT:     cf.assert
  func.func @constant() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @m::@grid blocks in (%c4, %c2, %c1) threads in (%c32, %c1, %c1)
    gpu.launch_func @m::@bounds blocks in (%c4, %c2, %c64) threads in (%c64, %c4, %c1)
    gpu.launch_func @m::@llvm blocks in (%c4, %c2, %c1) threads in (%c64, %c1, %c1)
    gpu.launch_func @m::@cluster clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1)
    // Without a size of its own it is launched in the kernel's clusters.
    gpu.launch_func @m::@cluster blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }

  // What is not constant is compared before the launch, and nothing else is.
  // CHECK-LABEL: func.func @given(
  // CHECK-SAME:      %[[N:.*]]: index
  func.func @given(%n: index) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    // CHECK:       %[[FOUR:.*]] = arith.constant 4 : index
    // CHECK-NEXT:  %[[SAME:.*]] = arith.cmpi eq, %[[N]], %[[FOUR]] : index
    // CHECK-NEXT:  cf.assert %[[SAME]], "the launch has another number of blocks in x: 'known_grid_size' of kernel 'grid' says 4"
    // CHECK-NEXT:  gpu.launch_func @m::@grid
    gpu.launch_func @m::@grid blocks in (%n, %c2, %c1) threads in (%c32, %c1, %c1)
    // CHECK:       arith.cmpi ule, %[[N]], %{{.*}} : index
    // CHECK-NEXT:  cf.assert %{{.*}}, "the launch has another number of threads in x: 'gpu.thread_id upper_bound' of kernel 'bounds' says at most 64"
    // CHECK:       %[[ALL:.*]] = arith.muli %[[N]], %{{.*}} : index
    // CHECK:       arith.cmpi ule, %[[ALL]]
    // CHECK-NEXT:  cf.assert %{{.*}}, "the launch has another number of threads in z: 'gpu.global_id upper_bound' of kernel 'bounds' says at most 100"
    // CHECK:       cf.assert %{{.*}}'gpu.block_id upper_bound' of kernel 'bounds' says at most 3"
    // CHECK-NEXT:  gpu.launch_func @m::@bounds
    gpu.launch_func @m::@bounds blocks in (%c1, %n, %n) threads in (%n, %c1, %c1)
    // CHECK-NOT:   cf.assert
    // CHECK:       gpu.launch_func @m::@nothing
    gpu.launch_func @m::@nothing blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
}

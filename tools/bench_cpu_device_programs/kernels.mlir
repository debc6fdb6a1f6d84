// What tools/bench_cpu_device measures. Each function launches one kernel and returns when it has
// ended, but for @empty_queued, which only puts its launches into a stream.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @empty() kernel {
      gpu.return
    }

    // y = a * x + y, one element a thread.
    gpu.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) kernel {
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %start = arith.muli %block, %size : index
      %i = arith.addi %start, %thread : index
      %xi = memref.load %x[%i] : memref<?xf32>
      %yi = memref.load %y[%i] : memref<?xf32>
      %product = arith.mulf %a, %xi : f32
      %sum = arith.addf %product, %yi : f32
      memref.store %sum, %y[%i] : memref<?xf32>
      gpu.return
    }

    // Sums blocks of 256 elements, one element a thread: a tree in shared memory, with a barrier
    // before each of its eight levels.
    gpu.func @block_sums(%x: memref<?xf32>, %sums: memref<?xf32>)
        workgroup(%tree: memref<256xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c128 = arith.constant 128 : index
      %c256 = arith.constant 256 : index
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %start = arith.muli %block, %c256 : index
      %i = arith.addi %start, %thread : index
      %own = memref.load %x[%i] : memref<?xf32>
      memref.store %own, %tree[%thread] : memref<256xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      scf.while (%width = %c128) : (index) -> index {
        %more = arith.cmpi uge, %width, %c1 : index
        scf.condition(%more) %width : index
      } do {
      ^bb0(%width: index):
        %adds = arith.cmpi ult, %thread, %width : index
        scf.if %adds {
          %other = arith.addi %thread, %width : index
          %left = memref.load %tree[%thread] : memref<256xf32, #gpu.address_space<workgroup>>
          %right = memref.load %tree[%other] : memref<256xf32, #gpu.address_space<workgroup>>
          %sum = arith.addf %left, %right : f32
          memref.store %sum, %tree[%thread] : memref<256xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %half = arith.divui %width, %c2 : index
        scf.yield %half : index
      }
      %first = arith.cmpi eq, %thread, %c0 : index
      scf.if %first {
        %sum = memref.load %tree[%c0] : memref<256xf32, #gpu.address_space<workgroup>>
        memref.store %sum, %sums[%block] : memref<?xf32>
      }
      gpu.return
    }
  }

  func.func @empty_queued(%count: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %stream = gpu.wait async
    scf.for %i = %c0 to %count step %c1 {
      %next = gpu.launch_func async [%stream] @kernels::@empty
        blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    }
    gpu.wait [%stream]
    return
  }

  func.func @empty_waited(%count: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %count step %c1 {
      gpu.launch_func @kernels::@empty blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    }
    return
  }

  func.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %blocks = arith.ceildivui %n, %c256 : index
    gpu.launch_func @kernels::@saxpy blocks in (%blocks, %c1, %c1) threads in (%c256, %c1, %c1)
      args(%a : f32, %x : memref<?xf32>, %y : memref<?xf32>)
    return
  }

  func.func @block_sums(%x: memref<?xf32>, %sums: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %blocks = memref.dim %sums, %c0 : memref<?xf32>
    gpu.launch_func @kernels::@block_sums blocks in (%blocks, %c1, %c1) threads in (%c256, %c1, %c1)
      args(%x : memref<?xf32>, %sums : memref<?xf32>)
    return
  }
}

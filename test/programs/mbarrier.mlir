// Barriers in shared memory. In both kernels the 128 threads of a block hand their values round
// in a ring eight times; what separates writing from reading is an mbarrier that each thread
// arrives at.
//
// The first kernel waits for the phase's parity, the second holds the token of its own arrival
// and tests for that. Thread t starts with t, takes its right neighbour's value plus one in each
// round, and so must end with (t + 8) mod 128 + 8.
//
// Prints "max difference 0" and the last eight values for each kernel.
// Runs on sm_90 and newer (the token alone on sm_80).

!barrier = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @ring_by_parity(%result: memref<128xf32>)
        workgroup(%slots: memref<2x128xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %rounds = arith.constant 8 : index
      %time_limit = arith.constant 10000000 : index
      %one = arith.constant 1.0 : f32
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %is_first = arith.cmpi eq, %thread, %c0 : index
      %barrier = nvgpu.mbarrier.create -> !barrier
      nvgpu.mbarrier.init %barrier[%c0], %threads, predicate = %is_first : !barrier
      gpu.barrier

      %after_thread = arith.addi %thread, %c1 : index
      %neighbour = arith.remui %after_thread, %threads : index
      %thread_integer = arith.index_cast %thread : index to i32
      %initial = arith.sitofp %thread_integer : i32 to f32
      %final = scf.for %round = %c0 to %rounds step %c1 iter_args(%value = %initial) -> (f32) {
        // Two sets of slots: this round's writes cannot meet the last round's reads.
        %set = arith.remui %round, %c2 : index
        memref.store %value, %slots[%set, %thread]
            : memref<2x128xf32, #gpu.address_space<workgroup>>
        %token = nvgpu.mbarrier.arrive %barrier[%c0] : !barrier -> !nvgpu.mbarrier.token
        %parity = arith.cmpi eq, %set, %c1 : index
        nvgpu.mbarrier.try_wait.parity %barrier[%c0], %parity, %time_limit : !barrier
        %received = memref.load %slots[%set, %neighbour]
            : memref<2x128xf32, #gpu.address_space<workgroup>>
        %next = arith.addf %received, %one : f32
        scf.yield %next : f32
      }
      memref.store %final, %result[%thread] : memref<128xf32>
      gpu.return
    }

    gpu.func @ring_by_token(%result: memref<128xf32>)
        workgroup(%slots: memref<2x128xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %rounds = arith.constant 8 : index
      %one = arith.constant 1.0 : f32
      %true = arith.constant true
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %is_first = arith.cmpi eq, %thread, %c0 : index
      %barrier = nvgpu.mbarrier.create -> !barrier
      scf.if %is_first {
        nvgpu.mbarrier.init %barrier[%c0], %threads : !barrier
      }
      gpu.barrier

      %after_thread = arith.addi %thread, %c1 : index
      %neighbour = arith.remui %after_thread, %threads : index
      %thread_integer = arith.index_cast %thread : index to i32
      %initial = arith.sitofp %thread_integer : i32 to f32
      %final = scf.for %round = %c0 to %rounds step %c1 iter_args(%value = %initial) -> (f32) {
        %set = arith.remui %round, %c2 : index
        memref.store %value, %slots[%set, %thread]
            : memref<2x128xf32, #gpu.address_space<workgroup>>
        %token = nvgpu.mbarrier.arrive %barrier[%c0] : !barrier -> !nvgpu.mbarrier.token
        scf.while : () -> () {
          %done = nvgpu.mbarrier.test.wait %barrier[%c0], %token
              : !barrier, !nvgpu.mbarrier.token
          %pending = arith.xori %done, %true : i1
          scf.condition(%pending)
        } do {
          scf.yield
        }
        %received = memref.load %slots[%set, %neighbour]
            : memref<2x128xf32, #gpu.address_space<workgroup>>
        %next = arith.addf %received, %one : f32
        scf.yield %next : f32
      }
      memref.store %final, %result[%thread] : memref<128xf32>
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %result = memref.alloc() : memref<128xf32>
    %device_result = gpu.alloc () : memref<128xf32>

    gpu.launch_func @kernels::@ring_by_parity
        blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%device_result : memref<128xf32>)
    gpu.memcpy %result, %device_result : memref<128xf32>, memref<128xf32>
    vector.print str "by parity: "
    func.call @compare(%result) : (memref<128xf32>) -> ()

    // What the second kernel fails to write must not pass for the first one's result.
    affine.for %i = 0 to 128 {
      %unset = arith.constant -1.0 : f32
      affine.store %unset, %result[%i] : memref<128xf32>
    }
    gpu.memcpy %device_result, %result : memref<128xf32>, memref<128xf32>
    gpu.launch_func @kernels::@ring_by_token
        blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%device_result : memref<128xf32>)
    gpu.memcpy %result, %device_result : memref<128xf32>, memref<128xf32>
    vector.print str "by token: "
    func.call @compare(%result) : (memref<128xf32>) -> ()

    gpu.dealloc %device_result : memref<128xf32>
    memref.dealloc %result : memref<128xf32>
    return
  }

  func.func private @compare(%result: memref<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %largest = affine.for %thread = 0 to 128 iter_args(%so_far = %zero) -> (f32) {
      %number = affine.apply affine_map<(t) -> ((t + 8) mod 128 + 8)>(%thread)
      %integer = arith.index_cast %number : index to i32
      %expected = arith.sitofp %integer : i32 to f32
      %got = affine.load %result[%thread] : memref<128xf32>
      %difference = arith.subf %got, %expected : f32
      %distance = math.absf %difference : f32
      %larger = arith.maximumf %so_far, %distance : f32
      affine.yield %larger : f32
    }
    vector.print str "max difference "
    vector.print %largest : f32
    %tail = arith.constant 120 : index
    %values = vector.load %result[%tail] : memref<128xf32>, vector<8xf32>
    vector.print %values : vector<8xf32>
    return
  }
}

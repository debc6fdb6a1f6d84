// Kernels of 64 threads for streams.c, each with a function that launches it in a stream.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @write(%data: !llvm.ptr) kernel {
      %thread = gpu.thread_id x
      %index = arith.index_cast %thread : index to i64
      %place = llvm.getelementptr %data[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %value = arith.constant 1.0 : f32
      llvm.store %value, %place : f32, !llvm.ptr
      gpu.return
    }
    gpu.func @copy(%from: !llvm.ptr, %to: !llvm.ptr) kernel {
      %thread = gpu.thread_id x
      %index = arith.index_cast %thread : index to i64
      %there = llvm.getelementptr %from[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %value = llvm.load %there : !llvm.ptr -> f32
      %place = llvm.getelementptr %to[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %value, %place : f32, !llvm.ptr
      gpu.return
    }
    // Every second byte.
    gpu.func @write_bytes(%data: !llvm.ptr) kernel {
      %thread = gpu.thread_id x
      %index = arith.index_cast %thread : index to i64
      %two = arith.constant 2 : i64
      %at = arith.muli %index, %two : i64
      %place = llvm.getelementptr %data[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %value = arith.constant 1 : i8
      llvm.store %value, %place : i8, !llvm.ptr
      gpu.return
    }
    gpu.func @count(%data: !llvm.ptr) kernel {
      %one = arith.constant 1 : i32
      %before = llvm.atomicrmw add %data, %one monotonic : !llvm.ptr, i32
      gpu.return
    }
  }
  func.func @launch_write(%stream: !llvm.ptr, %data: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %token = builtin.unrealized_conversion_cast %stream : !llvm.ptr to !gpu.async.token
    %done = gpu.launch_func async [%token] @kernels::@write blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%data : !llvm.ptr)
    return
  }
  func.func @launch_copy(%stream: !llvm.ptr, %from: !llvm.ptr, %to: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %token = builtin.unrealized_conversion_cast %stream : !llvm.ptr to !gpu.async.token
    %done = gpu.launch_func async [%token] @kernels::@copy blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%from : !llvm.ptr, %to : !llvm.ptr)
    return
  }
  func.func @launch_write_bytes(%stream: !llvm.ptr, %data: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %token = builtin.unrealized_conversion_cast %stream : !llvm.ptr to !gpu.async.token
    %done = gpu.launch_func async [%token] @kernels::@write_bytes blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%data : !llvm.ptr)
    return
  }
  func.func @launch_count(%stream: !llvm.ptr, %data: !llvm.ptr) {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %token = builtin.unrealized_conversion_cast %stream : !llvm.ptr to !gpu.async.token
    %done = gpu.launch_func async [%token] @kernels::@count blocks in (%one, %one, %one)
        threads in (%threads, %one, %one) args(%data : !llvm.ptr)
    return
  }
}

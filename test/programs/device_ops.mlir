// A block of 16x6 threads, which is three warps, through operations of which each would show.
//   numbers: tile[95 - i] - own[95 - i], where a global of 56 KB holds i and the called function's
//     dynamic memory holds -i: 2 * (95 - i), so 190 for the first thread and 0 for the last
//   the line that the last thread prints: -1 of i8, -2 of i16, 1 of i1, warp 2 of 3
//   matrix: [[1, 2, 3], [4, 5, 6]] copied into its transpose, [1, 4, 2, 5, 3, 6]
//   floats: 2^10, one factor for each of the first ten threads; 10 + the sum of 1, 2, ..., 6;
//     and 96, one for each thread, by ordered atomics
module attributes {gpu.container_module} {
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

  gpu.module @ops {
    memref.global "private" @tile : memref<14000xi32, #gpu.address_space<workgroup>>

    func.func private @own() -> memref<96xi32, #gpu.address_space<workgroup>> {
      %zero = arith.constant 0 : index
      %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %own = memref.view %bytes[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<96xi32, #gpu.address_space<workgroup>>
      return %own : memref<96xi32, #gpu.address_space<workgroup>>
    }

    gpu.func @run(%numbers: memref<96xi32>, %matrix: memref<2x3xi32>,
                  %transposed: memref<2x3xi32, strided<[1, 2]>>, %floats: memref<3xf32>,
                  %cell: !llvm.ptr) kernel {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %ten = arith.constant 10 : index
      %last = arith.constant 95 : index
      %none = arith.constant 0 : i32
      %x = gpu.thread_id x
      %y = gpu.thread_id y
      %width = gpu.block_dim x
      %before = arith.muli %y, %width : index
      %i = arith.addi %before, %x : index
      %value = arith.index_cast %i : index to i32
      %minus = arith.subi %none, %value : i32
      %tile = memref.get_global @tile : memref<14000xi32, #gpu.address_space<workgroup>>
      %own = func.call @own() : () -> memref<96xi32, #gpu.address_space<workgroup>>
      memref.store %value, %tile[%i] : memref<14000xi32, #gpu.address_space<workgroup>>
      memref.store %minus, %own[%i] : memref<96xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      %mirror = arith.subi %last, %i : index
      %left = memref.load %tile[%mirror] : memref<14000xi32, #gpu.address_space<workgroup>>
      %right = memref.load %own[%mirror] : memref<96xi32, #gpu.address_space<workgroup>>
      %number = arith.subi %left, %right : i32
      memref.store %number, %numbers[%i] : memref<96xi32>

      %factor = arith.constant 2.0 : f32
      %unit = arith.constant 1.0 : f32
      %multiplies = arith.cmpi ult, %i, %ten : index
      scf.if %multiplies {
        %old = memref.atomic_rmw mulf %factor, %floats[%zero] : (f32, memref<3xf32>) -> f32
      }
      %counted = llvm.atomicrmw fadd %cell, %unit syncscope("device") acq_rel : !llvm.ptr, f32

      %is_first = arith.cmpi eq, %i, %zero : index
      scf.if %is_first {
        memref.copy %matrix, %transposed : memref<2x3xi32> to memref<2x3xi32, strided<[1, 2]>>
        %nothing = arith.constant 0 : i32
        %start = arith.constant 10 : i32
        %values = vector.transfer_read %matrix[%zero, %zero], %nothing {in_bounds = [true, true]} : memref<2x3xi32>, vector<2x3xi32>
        %sum = vector.multi_reduction <add>, %values, %start [0, 1] : vector<2x3xi32> to i32
        %float = arith.sitofp %sum : i32 to f32
        memref.store %float, %floats[%one] : memref<3xf32>
      }
      %is_last = arith.cmpi eq, %i, %last : index
      scf.if %is_last {
        %warp = gpu.subgroup_id : index
        %warps = gpu.num_subgroups : index
        %sign = arith.divsi %minus, %value : i32
        %double = arith.addi %sign, %sign : i32
        %byte = arith.trunci %sign : i32 to i8
        %short = arith.trunci %double : i32 to i16
        gpu.printf "%d %d %d, warp %ld of %ld\n", %byte, %short, %is_last, %warp, %warps : i8, i16, i1, index, index
      }
      gpu.return
    }
  }

  func.func @main() {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %columns = arith.constant 16 : index
    %rows = arith.constant 6 : index
    %bytes = arith.constant 384 : i32
    %host = memref.alloc() : memref<2x3xi32>
    scf.for %i = %zero to %two step %one {
      scf.for %j = %zero to %three step %one {
        %above = arith.muli %i, %three : index
        %place = arith.addi %above, %j : index
        %number = arith.addi %place, %one : index
        %value = arith.index_cast %number : index to i32
        memref.store %value, %host[%i, %j] : memref<2x3xi32>
      }
    }
    %host_floats = memref.alloc() : memref<3xf32>
    %unit = arith.constant 1.0 : f32
    %nothing = arith.constant 0.0 : f32
    memref.store %unit, %host_floats[%zero] : memref<3xf32>
    memref.store %nothing, %host_floats[%one] : memref<3xf32>
    memref.store %nothing, %host_floats[%two] : memref<3xf32>

    %numbers = gpu.alloc () : memref<96xi32>
    %matrix = gpu.alloc () : memref<2x3xi32>
    %packed = gpu.alloc () : memref<6xi32>
    %floats = gpu.alloc () : memref<3xf32>
    gpu.memcpy %matrix, %host : memref<2x3xi32>, memref<2x3xi32>
    gpu.memcpy %floats, %host_floats : memref<3xf32>, memref<3xf32>
    %transposed = memref.reinterpret_cast %packed to offset: [0], sizes: [2, 3], strides: [1, 2]
        : memref<6xi32> to memref<2x3xi32, strided<[1, 2]>>
    %start = memref.extract_aligned_pointer_as_index %floats : memref<3xf32> -> index
    %eight = arith.constant 8 : index
    %address = arith.addi %start, %eight : index
    %number = arith.index_cast %address : index to i64
    %cell = llvm.inttoptr %number : i64 to !llvm.ptr
    gpu.launch_func @ops::@run blocks in (%one, %one, %one) threads in (%columns, %rows, %one)
        dynamic_shared_memory_size %bytes
        args(%numbers : memref<96xi32>, %matrix : memref<2x3xi32>,
             %transposed : memref<2x3xi32, strided<[1, 2]>>, %floats : memref<3xf32>,
             %cell : !llvm.ptr)

    %all = memref.alloc() : memref<96xi32>
    %flat = memref.alloc() : memref<6xi32>
    gpu.memcpy %all, %numbers : memref<96xi32>, memref<96xi32>
    gpu.memcpy %flat, %packed : memref<6xi32>, memref<6xi32>
    gpu.memcpy %host_floats, %floats : memref<3xf32>, memref<3xf32>
    %any_all = memref.cast %all : memref<96xi32> to memref<*xi32>
    %any_flat = memref.cast %flat : memref<6xi32> to memref<*xi32>
    %any_floats = memref.cast %host_floats : memref<3xf32> to memref<*xf32>
    call @printMemrefI32(%any_all) : (memref<*xi32>) -> ()
    call @printMemrefI32(%any_flat) : (memref<*xi32>) -> ()
    call @printMemrefF32(%any_floats) : (memref<*xf32>) -> ()
    return
  }
}

// Clusters of blocks and their distributed shared memory. Eight blocks of 32 threads form two
// clusters of four. Each block writes its values into its own shared memory; after the cluster's
// barrier it reads those of the next block in its cluster, through an address that `mapa` maps.
//
// Every thread stores three numbers: what it read, which is 100 times the neighbour's place in
// the grid plus the thread; its cluster's number; and the number of blocks in the cluster.
//
// Prints "wrong values 0" and thread 5 of every block.
// Runs on sm_90 and newer.

func.func @main() {
  %c1 = arith.constant 1 : index
  %cluster_blocks = arith.constant 4 : index
  %blocks = arith.constant 8 : index
  %threads = arith.constant 32 : index

  %result = memref.alloc() : memref<3x8x32xi32>
  %device_result = gpu.alloc () : memref<3x8x32xi32>
  gpu.launch clusters(%cluster_x, %cluster_y, %cluster_z)
                 in (%cluster_size_x = %cluster_blocks, %cluster_size_y = %c1,
                     %cluster_size_z = %c1)
             blocks(%block, %block_y, %block_z)
                 in (%grid_x = %blocks, %grid_y = %c1, %grid_z = %c1)
             threads(%thread, %thread_y, %thread_z)
                 in (%block_size_x = %threads, %block_size_y = %c1, %block_size_z = %c1)
             workgroup(%slots : memref<32xi32, #gpu.address_space<workgroup>>) {
    %hundred = arith.constant 100 : i32
    %four = arith.constant 4 : i32
    %one = arith.constant 1 : i32
    %reads = arith.constant 0 : index
    %clusters = arith.constant 1 : index
    %sizes = arith.constant 2 : index

    %block_integer = arith.index_cast %block : index to i32
    %thread_integer = arith.index_cast %thread : index to i32
    %scaled = arith.muli %block_integer, %hundred : i32
    %own = arith.addi %scaled, %thread_integer : i32
    memref.store %own, %slots[%thread] : memref<32xi32, #gpu.address_space<workgroup>>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}

    // The neighbour's place in the cluster, and this thread's slot there.
    %place = gpu.cluster_block_id x
    %place_integer = arith.index_cast %place : index to i32
    %next = arith.addi %place_integer, %one : i32
    %neighbour = arith.remui %next, %four : i32
    %own_address = memref.extract_aligned_pointer_as_index %slots
        : memref<32xi32, #gpu.address_space<workgroup>> -> index
    %own_bits = arith.index_cast %own_address : index to i64
    %own_slots = llvm.inttoptr %own_bits : i64 to !llvm.ptr<3>
    %neighbour_slots = nvvm.mapa %own_slots, %neighbour : !llvm.ptr<3> -> !llvm.ptr<7>
    %slot = llvm.getelementptr %neighbour_slots[%thread_integer]
        : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i32
    %read = llvm.load %slot : !llvm.ptr<7> -> i32
    memref.store %read, %device_result[%reads, %block, %thread] : memref<3x8x32xi32>

    %cluster_id = gpu.cluster_id x
    %cluster_integer = arith.index_cast %cluster_id : index to i32
    memref.store %cluster_integer, %device_result[%clusters, %block, %thread] : memref<3x8x32xi32>
    %cluster_size = gpu.cluster_dim_blocks x
    %size_integer = arith.index_cast %cluster_size : index to i32
    memref.store %size_integer, %device_result[%sizes, %block, %thread] : memref<3x8x32xi32>

    // No block leaves while another may still read its shared memory.
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    gpu.terminator
  }
  gpu.memcpy %result, %device_result : memref<3x8x32xi32>, memref<3x8x32xi32>

  %no_errors = arith.constant 0 : i32
  %error = arith.constant 1 : i32
  %expected_size = arith.constant 4 : i32
  %wrong = affine.for %block = 0 to 8 iter_args(%outer = %no_errors) -> (i32) {
    %block_wrong = affine.for %thread = 0 to 32 iter_args(%so_far = %outer) -> (i32) {
      %expected_index = affine.apply affine_map<(b, t) ->
          (100 * ((b floordiv 4) * 4 + (b + 1) mod 4) + t)>(%block, %thread)
      %expected_cluster = affine.apply affine_map<(b) -> (b floordiv 4)>(%block)
      %expected_read = arith.index_cast %expected_index : index to i32
      %expected_id = arith.index_cast %expected_cluster : index to i32
      %read = affine.load %result[0, %block, %thread] : memref<3x8x32xi32>
      %id = affine.load %result[1, %block, %thread] : memref<3x8x32xi32>
      %size = affine.load %result[2, %block, %thread] : memref<3x8x32xi32>
      %read_right = arith.cmpi eq, %read, %expected_read : i32
      %id_right = arith.cmpi eq, %id, %expected_id : i32
      %size_right = arith.cmpi eq, %size, %expected_size : i32
      %numbers_right = arith.andi %id_right, %size_right : i1
      %all_right = arith.andi %read_right, %numbers_right : i1
      %count = arith.select %all_right, %no_errors, %error : i32
      %next = arith.addi %so_far, %count : i32
      affine.yield %next : i32
    }
    affine.yield %block_wrong : i32
  }
  vector.print str "wrong values "
  vector.print %wrong : i32
  affine.for %block = 0 to 8 {
    %read = affine.load %result[0, %block, 5] : memref<3x8x32xi32>
    %id = affine.load %result[1, %block, 5] : memref<3x8x32xi32>
    %size = affine.load %result[2, %block, 5] : memref<3x8x32xi32>
    %numbers = vector.from_elements %read, %id, %size : vector<3xi32>
    vector.print %numbers : vector<3xi32>
  }
  gpu.dealloc %device_result : memref<3x8x32xi32>
  memref.dealloc %result : memref<3x8x32xi32>
  return
}

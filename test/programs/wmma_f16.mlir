// A 32x32x32 product by the warp matrix operations, f16 inputs, once with f32 and once with f16
// accumulators. Each of 2x2 blocks is one warp and owns a 16x16 tile of the result, which it
// accumulates over two steps of 16 along the inner dimension.
//
// The inputs are small whole numbers, so every product and sum is exact in both precisions and
// the results must equal the host's triple loop to the last bit.
//
// Prints "max difference 0" and the first eight entries of row 1 for each accumulator type.
// Runs on sm_70 and newer.

func.func @main() {
  %c1 = arith.constant 1 : index
  %grid_side = arith.constant 2 : index
  %warp_size = arith.constant 32 : index

  %a = memref.alloc() : memref<32x32xf16>
  %b = memref.alloc() : memref<32x32xf16>
  %reference = memref.alloc() : memref<32x32xf32>
  call @fill_inputs(%a, %b) : (memref<32x32xf16>, memref<32x32xf16>) -> ()
  call @multiply_on_host(%a, %b, %reference)
      : (memref<32x32xf16>, memref<32x32xf16>, memref<32x32xf32>) -> ()

  %device_a = gpu.alloc () : memref<32x32xf16>
  %device_b = gpu.alloc () : memref<32x32xf16>
  %device_product_f32 = gpu.alloc () : memref<32x32xf32>
  %device_product_f16 = gpu.alloc () : memref<32x32xf16>
  gpu.memcpy %device_a, %a : memref<32x32xf16>, memref<32x32xf16>
  gpu.memcpy %device_b, %b : memref<32x32xf16>, memref<32x32xf16>

  gpu.launch blocks(%block_x, %block_y, %block_z)
                 in (%grid_x = %grid_side, %grid_y = %grid_side, %grid_z = %c1)
             threads(%lane, %thread_y, %thread_z)
                 in (%block_size_x = %warp_size, %block_size_y = %c1, %block_size_z = %c1) {
    %c0 = arith.constant 0 : index
    %tile = arith.constant 16 : index
    %inner = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %row = arith.muli %block_y, %tile : index
    %column = arith.muli %block_x, %tile : index
    %initial = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf32, "COp">
    %sum = scf.for %k = %c0 to %inner step %tile
        iter_args(%partial = %initial) -> (!gpu.mma_matrix<16x16xf32, "COp">) {
      %a_tile = gpu.subgroup_mma_load_matrix %device_a[%row, %k] {leadDimension = 32 : index}
          : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %b_tile = gpu.subgroup_mma_load_matrix %device_b[%k, %column] {leadDimension = 32 : index}
          : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
      %next = gpu.subgroup_mma_compute %a_tile, %b_tile, %partial
          : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp">
          -> !gpu.mma_matrix<16x16xf32, "COp">
      scf.yield %next : !gpu.mma_matrix<16x16xf32, "COp">
    }
    gpu.subgroup_mma_store_matrix %sum, %device_product_f32[%row, %column]
        {leadDimension = 32 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<32x32xf32>
    gpu.terminator
  }

  gpu.launch blocks(%block_x, %block_y, %block_z)
                 in (%grid_x = %grid_side, %grid_y = %grid_side, %grid_z = %c1)
             threads(%lane, %thread_y, %thread_z)
                 in (%block_size_x = %warp_size, %block_size_y = %c1, %block_size_z = %c1) {
    %c0 = arith.constant 0 : index
    %tile = arith.constant 16 : index
    %inner = arith.constant 32 : index
    %zero = arith.constant 0.0 : f16
    %row = arith.muli %block_y, %tile : index
    %column = arith.muli %block_x, %tile : index
    %initial = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf16, "COp">
    %sum = scf.for %k = %c0 to %inner step %tile
        iter_args(%partial = %initial) -> (!gpu.mma_matrix<16x16xf16, "COp">) {
      %a_tile = gpu.subgroup_mma_load_matrix %device_a[%row, %k] {leadDimension = 32 : index}
          : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %b_tile = gpu.subgroup_mma_load_matrix %device_b[%k, %column] {leadDimension = 32 : index}
          : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
      %next = gpu.subgroup_mma_compute %a_tile, %b_tile, %partial
          : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp">
          -> !gpu.mma_matrix<16x16xf16, "COp">
      scf.yield %next : !gpu.mma_matrix<16x16xf16, "COp">
    }
    gpu.subgroup_mma_store_matrix %sum, %device_product_f16[%row, %column]
        {leadDimension = 32 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<32x32xf16>
    gpu.terminator
  }

  %product_f32 = memref.alloc() : memref<32x32xf32>
  %product_f16 = memref.alloc() : memref<32x32xf16>
  %product_f16_widened = memref.alloc() : memref<32x32xf32>
  gpu.memcpy %product_f32, %device_product_f32 : memref<32x32xf32>, memref<32x32xf32>
  gpu.memcpy %product_f16, %device_product_f16 : memref<32x32xf16>, memref<32x32xf16>
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 32 {
      %narrow = affine.load %product_f16[%i, %j] : memref<32x32xf16>
      %wide = arith.extf %narrow : f16 to f32
      affine.store %wide, %product_f16_widened[%i, %j] : memref<32x32xf32>
    }
  }

  vector.print str "f32 accumulators: "
  call @compare(%product_f32, %reference) : (memref<32x32xf32>, memref<32x32xf32>) -> ()
  vector.print str "f16 accumulators: "
  call @compare(%product_f16_widened, %reference) : (memref<32x32xf32>, memref<32x32xf32>) -> ()

  gpu.dealloc %device_a : memref<32x32xf16>
  gpu.dealloc %device_b : memref<32x32xf16>
  gpu.dealloc %device_product_f32 : memref<32x32xf32>
  gpu.dealloc %device_product_f16 : memref<32x32xf16>
  memref.dealloc %a : memref<32x32xf16>
  memref.dealloc %b : memref<32x32xf16>
  memref.dealloc %reference : memref<32x32xf32>
  memref.dealloc %product_f32 : memref<32x32xf32>
  memref.dealloc %product_f16 : memref<32x32xf16>
  memref.dealloc %product_f16_widened : memref<32x32xf32>
  return
}

// a[i][j] = (3 i + j) mod 7 and b[i][j] = (2 i + j) mod 5.
func.func private @fill_inputs(%a: memref<32x32xf16>, %b: memref<32x32xf16>) {
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 32 {
      %a_index = affine.apply affine_map<(i, j) -> ((3 * i + j) mod 7)>(%i, %j)
      %b_index = affine.apply affine_map<(i, j) -> ((2 * i + j) mod 5)>(%i, %j)
      %a_integer = arith.index_cast %a_index : index to i32
      %b_integer = arith.index_cast %b_index : index to i32
      %a_value = arith.sitofp %a_integer : i32 to f16
      %b_value = arith.sitofp %b_integer : i32 to f16
      affine.store %a_value, %a[%i, %j] : memref<32x32xf16>
      affine.store %b_value, %b[%i, %j] : memref<32x32xf16>
    }
  }
  return
}

func.func private @multiply_on_host(%a: memref<32x32xf16>, %b: memref<32x32xf16>,
                                    %product: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 32 {
      %sum = affine.for %k = 0 to 32 iter_args(%partial = %zero) -> (f32) {
        %a_narrow = affine.load %a[%i, %k] : memref<32x32xf16>
        %b_narrow = affine.load %b[%k, %j] : memref<32x32xf16>
        %a_value = arith.extf %a_narrow : f16 to f32
        %b_value = arith.extf %b_narrow : f16 to f32
        %term = arith.mulf %a_value, %b_value : f32
        %next = arith.addf %partial, %term : f32
        affine.yield %next : f32
      }
      affine.store %sum, %product[%i, %j] : memref<32x32xf32>
    }
  }
  return
}

// Prints the largest absolute difference, nan if there is one, and the head of row 1.
func.func private @compare(%result: memref<32x32xf32>, %reference: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %largest = affine.for %i = 0 to 32 iter_args(%outer = %zero) -> (f32) {
    %row_largest = affine.for %j = 0 to 32 iter_args(%so_far = %outer) -> (f32) {
      %got = affine.load %result[%i, %j] : memref<32x32xf32>
      %expected = affine.load %reference[%i, %j] : memref<32x32xf32>
      %difference = arith.subf %got, %expected : f32
      %distance = math.absf %difference : f32
      %larger = arith.maximumf %so_far, %distance : f32
      affine.yield %larger : f32
    }
    affine.yield %row_largest : f32
  }
  vector.print str "max difference "
  vector.print %largest : f32
  %row = arith.constant 1 : index
  %column = arith.constant 0 : index
  %head = vector.load %result[%row, %column] : memref<32x32xf32>, vector<8xf32>
  vector.print %head : vector<8xf32>
  return
}

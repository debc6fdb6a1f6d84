// One tensor-core instruction, mma.sync m16n8k16 with f16 inputs and f32 accumulators, fed from
// shared memory by ldmatrix. One warp stages a 16x16 matrix A and a 16x8 matrix B, loads its
// fragments (B transposed, as the instruction wants its columns), multiplies, and stores the four
// values that each lane owns.
//
// The inputs are small whole numbers, so the product must equal the host's triple loop exactly.
//
// Prints "max difference 0" and row 1 of the product.
// Runs on sm_80 and newer.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @multiply(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %product: memref<16x8xf32>)
        workgroup(%a_tile: memref<16x16xf16, #gpu.address_space<workgroup>>
                      {llvm.align = 16 : i64},
                  %b_tile: memref<16x8xf16, #gpu.address_space<workgroup>>
                      {llvm.align = 16 : i64})
        kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %lane = gpu.thread_id x

      // Staging: 32 lanes copy 8 elements of A each, lanes 0 to 15 also a row of B.
      %staged_row = arith.divui %lane, %c2 : index
      %staged_half = arith.remui %lane, %c2 : index
      %staged_column = arith.muli %staged_half, %c8 : index
      %a_piece = vector.load %a[%staged_row, %staged_column] : memref<16x16xf16>, vector<8xf16>
      vector.store %a_piece, %a_tile[%staged_row, %staged_column]
          : memref<16x16xf16, #gpu.address_space<workgroup>>, vector<8xf16>
      %copies_b = arith.cmpi ult, %lane, %c16 : index
      scf.if %copies_b {
        %b_row = vector.load %b[%lane, %c0] : memref<16x8xf16>, vector<8xf16>
        vector.store %b_row, %b_tile[%lane, %c0]
            : memref<16x8xf16, #gpu.address_space<workgroup>>, vector<8xf16>
      }
      gpu.barrier

      // Each lane names one 16-byte row of an 8x8 piece: lanes 0 to 15 the left half of A's rows,
      // 16 to 31 the right half; of B, lanes 0 to 15 count.
      %fragment_row = arith.remui %lane, %c16 : index
      %fragment_half = arith.divui %lane, %c16 : index
      %fragment_column = arith.muli %fragment_half, %c8 : index
      %a_fragment = nvgpu.ldmatrix %a_tile[%fragment_row, %fragment_column]
          {numTiles = 4 : i32, transpose = false}
          : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
      %b_fragment = nvgpu.ldmatrix %b_tile[%fragment_row, %c0]
          {numTiles = 2 : i32, transpose = true}
          : memref<16x8xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
      %zero = arith.constant dense<0.0> : vector<2x2xf32>
      %sum = nvgpu.mma.sync (%a_fragment, %b_fragment, %zero) {mmaShape = [16, 8, 16]}
          : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>

      // Lane l owns columns 2 (l mod 4) and the next, of rows l/4 and l/4 + 8.
      %upper_row = arith.divui %lane, %c4 : index
      %lower_row = arith.addi %upper_row, %c8 : index
      %pair = arith.remui %lane, %c4 : index
      %column = arith.muli %pair, %c2 : index
      %upper = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
      %lower = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
      vector.store %upper, %product[%upper_row, %column] : memref<16x8xf32>, vector<2xf32>
      vector.store %lower, %product[%lower_row, %column] : memref<16x8xf32>, vector<2xf32>
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %warp_size = arith.constant 32 : index
    %a = memref.alloc() : memref<16x16xf16>
    %b = memref.alloc() : memref<16x8xf16>
    %product = memref.alloc() : memref<16x8xf32>
    func.call @fill_inputs(%a, %b) : (memref<16x16xf16>, memref<16x8xf16>) -> ()

    %device_a = gpu.alloc () : memref<16x16xf16>
    %device_b = gpu.alloc () : memref<16x8xf16>
    %device_product = gpu.alloc () : memref<16x8xf32>
    gpu.memcpy %device_a, %a : memref<16x16xf16>, memref<16x16xf16>
    gpu.memcpy %device_b, %b : memref<16x8xf16>, memref<16x8xf16>
    gpu.launch_func @kernels::@multiply
        blocks in (%c1, %c1, %c1) threads in (%warp_size, %c1, %c1)
        args(%device_a : memref<16x16xf16>, %device_b : memref<16x8xf16>,
             %device_product : memref<16x8xf32>)
    gpu.memcpy %product, %device_product : memref<16x8xf32>, memref<16x8xf32>

    func.call @compare(%a, %b, %product)
        : (memref<16x16xf16>, memref<16x8xf16>, memref<16x8xf32>) -> ()
    gpu.dealloc %device_a : memref<16x16xf16>
    gpu.dealloc %device_b : memref<16x8xf16>
    gpu.dealloc %device_product : memref<16x8xf32>
    memref.dealloc %a : memref<16x16xf16>
    memref.dealloc %b : memref<16x8xf16>
    memref.dealloc %product : memref<16x8xf32>
    return
  }

  // a[i][k] = (3 i + k) mod 7 - 3 and b[k][j] = (k + 2 j) mod 5 - 1.
  func.func private @fill_inputs(%a: memref<16x16xf16>, %b: memref<16x8xf16>) {
    affine.for %i = 0 to 16 {
      affine.for %k = 0 to 16 {
        %index = affine.apply affine_map<(i, k) -> ((3 * i + k) mod 7 - 3)>(%i, %k)
        %integer = arith.index_cast %index : index to i32
        %value = arith.sitofp %integer : i32 to f16
        affine.store %value, %a[%i, %k] : memref<16x16xf16>
      }
    }
    affine.for %k = 0 to 16 {
      affine.for %j = 0 to 8 {
        %index = affine.apply affine_map<(k, j) -> ((k + 2 * j) mod 5 - 1)>(%k, %j)
        %integer = arith.index_cast %index : index to i32
        %value = arith.sitofp %integer : i32 to f16
        affine.store %value, %b[%k, %j] : memref<16x8xf16>
      }
    }
    return
  }

  // Prints the largest absolute difference from the host's product, and row 1 of the device's.
  func.func private @compare(%a: memref<16x16xf16>, %b: memref<16x8xf16>,
                             %product: memref<16x8xf32>) {
    %zero = arith.constant 0.0 : f32
    %largest = affine.for %i = 0 to 16 iter_args(%outer = %zero) -> (f32) {
      %row_largest = affine.for %j = 0 to 8 iter_args(%so_far = %outer) -> (f32) {
        %expected = affine.for %k = 0 to 16 iter_args(%partial = %zero) -> (f32) {
          %a_narrow = affine.load %a[%i, %k] : memref<16x16xf16>
          %b_narrow = affine.load %b[%k, %j] : memref<16x8xf16>
          %a_value = arith.extf %a_narrow : f16 to f32
          %b_value = arith.extf %b_narrow : f16 to f32
          %term = arith.mulf %a_value, %b_value : f32
          %next = arith.addf %partial, %term : f32
          affine.yield %next : f32
        }
        %got = affine.load %product[%i, %j] : memref<16x8xf32>
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
    %values = vector.load %product[%row, %column] : memref<16x8xf32>, vector<8xf32>
    vector.print %values : vector<8xf32>
    return
  }
}

// One kernel that uses linalg, vector, affine, complex, index, bf16 and f16 arithmetic, atomics and
// private memory; a parallel loop mapped to the device; and the same dialects on the host.
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %a = gpu.alloc () : memref<8x8xf32>
  %c = gpu.alloc () : memref<8x8xf32>
  %count = gpu.alloc () : memref<2xi32>
  %two_f = arith.constant 2.0 : f32
  %zero_f = arith.constant 0.0 : f32
  %zero_i = arith.constant 0 : i32
  gpu.memset %a, %two_f : memref<8x8xf32>, f32
  gpu.memset %c, %zero_f : memref<8x8xf32>, f32
  gpu.memset %count, %zero_i : memref<2xi32>, i32

  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
    // Every element 8 * 2 * 2 = 32.
    linalg.matmul ins(%a, %a : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>)
    // Row 1 begins 34 34 34 34; element 0 0 becomes their sum, 136.
    %v = vector.load %c[%zero, %zero] : memref<8x8xf32>, vector<4xf32>
    %twos = vector.broadcast %two_f : f32 to vector<4xf32>
    %sums = arith.addf %v, %twos : vector<4xf32>
    vector.store %sums, %c[%one, %zero] : memref<8x8xf32>, vector<4xf32>
    %total = vector.reduction <add>, %sums : vector<4xf32> into f32
    memref.store %total, %c[%zero, %zero] : memref<8x8xf32>
    // Row 3: elements 0, 2, 4 and 6 become 2.
    %rows = memref.subview %c[2, 0][2, 8][1, 1]
        : memref<8x8xf32> to memref<2x8xf32, strided<[8, 1], offset: 16>>
    affine.for %i = 0 to 4 {
      %x = affine.load %a[0, %i] : memref<8x8xf32>
      affine.store %x, %rows[1, %i * 2] : memref<2x8xf32, strided<[8, 1], offset: 16>>
    }
    // Past the right edge a transfer reads the padding: the last row becomes 32 9 9 9 ... and
    // writes only what is inside.
    %seven = index.constant 7
    %padding = arith.constant 9.0 : f32
    %edge = vector.transfer_read %c[%seven, %seven], %padding {in_bounds = [false]}
        : memref<8x8xf32>, vector<4xf32>
    vector.transfer_write %edge, %c[%seven, %zero] {in_bounds = [true]}
        : vector<4xf32>, memref<8x8xf32>
    // (1 + 2i)^2 = -3 + 4i into row 5; 1.5 + 0.5 in bf16 and 0.25 * 3 in f16 into row 6.
    %z = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
    %square = complex.mul %z, %z : complex<f32>
    %real = complex.re %square : complex<f32>
    %imaginary = complex.im %square : complex<f32>
    %five = index.constant 5
    %six = index.add %five, %one
    memref.store %real, %c[%five, %zero] : memref<8x8xf32>
    memref.store %imaginary, %c[%five, %one] : memref<8x8xf32>
    %b0 = arith.constant 1.5 : bf16
    %b1 = arith.constant 0.5 : bf16
    %b2 = arith.addf %b0, %b1 : bf16
    %b3 = arith.extf %b2 : bf16 to f32
    memref.store %b3, %c[%six, %zero] : memref<8x8xf32>
    %h0 = arith.constant 0.25 : f16
    %h1 = arith.constant 3.0 : f16
    %h2 = arith.mulf %h0, %h1 : f16
    %h3 = arith.extf %h2 : f16 to f32
    // Through private memory.
    %private = memref.alloca() : memref<2xf32, #gpu.address_space<private>>
    memref.store %h3, %private[%one] : memref<2xf32, #gpu.address_space<private>>
    %h4 = memref.load %private[%one] : memref<2xf32, #gpu.address_space<private>>
    memref.store %h4, %c[%six, %one] : memref<8x8xf32>
    gpu.terminator
  }

  // Eight threads count to 8, and find the largest of their squares, 49.
  scf.parallel (%i) = (%zero) to (%eight) step (%one) {
    %unit = arith.constant 1 : i32
    %old = memref.atomic_rmw addi %unit, %count[%zero] : (i32, memref<2xi32>) -> i32
    %square = arith.muli %i, %i : index
    %number = arith.index_cast %square : index to i32
    %before = memref.generic_atomic_rmw %count[%one] : memref<2xi32> {
    ^bb0(%current: i32):
      %larger = arith.maxsi %current, %number : i32
      memref.atomic_yield %larger : i32
    }
    scf.reduce
  } {mapping = [#gpu.loop_dim_map<processor = thread_x, map = (d0) -> (d0), bound = (d0) -> (d0)>]}

  %host = memref.alloc() : memref<8x8xf32>
  gpu.memcpy %host, %c : memref<8x8xf32>, memref<8x8xf32>
  %left = memref.subview %host[0, 0][8, 4][1, 1]
      : memref<8x8xf32> to memref<8x4xf32, strided<[8, 1]>>
  %shown = memref.alloc() : memref<8x4xf32>
  memref.copy %left, %shown : memref<8x4xf32, strided<[8, 1]>> to memref<8x4xf32>
  %any = memref.cast %shown : memref<8x4xf32> to memref<*xf32>
  call @printMemrefF32(%any) : (memref<*xf32>) -> ()
  %counted = memref.alloc() : memref<2xi32>
  gpu.memcpy %counted, %count : memref<2xi32>, memref<2xi32>
  %any_count = memref.cast %counted : memref<2xi32> to memref<*xi32>
  call @printMemrefI32(%any_count) : (memref<*xi32>) -> ()

  // On the host: a vector, 2 * 3 by index, and the length of 3 + 4i.
  %pair = arith.constant dense<[1.0, 2.5]> : vector<2xf32>
  vector.print %pair : vector<2xf32>
  %three = index.constant 3
  %two = index.constant 2
  %product = index.mul %two, %three
  vector.print %product : index
  %w = complex.constant [3.0 : f32, 4.0 : f32] : complex<f32>
  %length = complex.abs %w : complex<f32>
  vector.print %length : f32
  return
}

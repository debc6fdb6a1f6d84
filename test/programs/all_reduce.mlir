// Every kind of all-reduce over a block of 100 threads (three warps and an eighth of one), the form
// with a body, and reductions of a warp and of clusters of lanes.
//
// Integers, with v the thread's number: sum of v 4950; product of 1 2 3 4 5 1 1 ... 120; unsigned
// minimum of v + 5: 5; minimum of v - 50: -50; unsigned maximum of v - 50: 2^32 - 1, shown as -1;
// maximum of v - 200: -101; and of v | 240: 240; or of v: 127; exclusive or of 1 to 100: 100; the
// sum again with a body of its own.
// Floats, with v - 50 and once more with a NaN in thread 3: sum of v / 2: 2475; product 120; minnumf
// and maxnumf pass over the NaN: -50, 49; minimumf and maximumf without it: -50, 49, and with it nan.
// Subgroups: the sums of v in the warps of threads 0, 32, 64 and 96, then in the groups of four lanes,
// and of every second of eight lanes, that threads 5 and 33 are in.
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %one = arith.constant 1 : index
  %x_threads = arith.constant 10 : index
  %y_threads = arith.constant 10 : index
  %integers = gpu.alloc () : memref<10xi32>
  %floats = gpu.alloc () : memref<8xf32>
  %groups = gpu.alloc () : memref<3x100xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %x_threads, %sy = %y_threads, %sz = %one) {
    %row = arith.muli %ty, %sx : index
    %thread = arith.addi %row, %tx : index
    %v = arith.index_cast %thread : index to i32
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    %c50 = arith.constant 50 : i32
    %c200 = arith.constant 200 : i32
    %c240 = arith.constant 240 : i32
    %plus1 = arith.addi %v, %c1 : i32
    %plus5 = arith.addi %v, %c5 : i32
    %minus50 = arith.subi %v, %c50 : i32
    %minus200 = arith.subi %v, %c200 : i32
    %high = arith.ori %v, %c240 : i32
    %early = arith.cmpi ult, %v, %c5 : i32
    %small = arith.select %early, %plus1, %c1 : i32
    %fv = arith.sitofp %v : i32 to f32
    %fsmall = arith.sitofp %small : i32 to f32
    %centred = arith.sitofp %minus50 : i32 to f32
    %point5 = arith.constant 0.5 : f32
    %half = arith.mulf %fv, %point5 : f32
    %nan = arith.constant 0x7FC00000 : f32
    %c3 = arith.constant 3 : i32
    %third = arith.cmpi eq, %v, %c3 : i32
    %holed = arith.select %third, %nan, %centred : f32
    %i0 = gpu.all_reduce add %v uniform {} : (i32) -> i32
    %ia0 = arith.constant 0 : index
    memref.store %i0, %integers[%ia0] : memref<10xi32>
    %i1 = gpu.all_reduce mul %small uniform {} : (i32) -> i32
    %ia1 = arith.constant 1 : index
    memref.store %i1, %integers[%ia1] : memref<10xi32>
    %i2 = gpu.all_reduce minui %plus5 uniform {} : (i32) -> i32
    %ia2 = arith.constant 2 : index
    memref.store %i2, %integers[%ia2] : memref<10xi32>
    %i3 = gpu.all_reduce minsi %minus50 uniform {} : (i32) -> i32
    %ia3 = arith.constant 3 : index
    memref.store %i3, %integers[%ia3] : memref<10xi32>
    %i4 = gpu.all_reduce maxui %minus50 uniform {} : (i32) -> i32
    %ia4 = arith.constant 4 : index
    memref.store %i4, %integers[%ia4] : memref<10xi32>
    %i5 = gpu.all_reduce maxsi %minus200 uniform {} : (i32) -> i32
    %ia5 = arith.constant 5 : index
    memref.store %i5, %integers[%ia5] : memref<10xi32>
    %i6 = gpu.all_reduce and %high uniform {} : (i32) -> i32
    %ia6 = arith.constant 6 : index
    memref.store %i6, %integers[%ia6] : memref<10xi32>
    %i7 = gpu.all_reduce or %v uniform {} : (i32) -> i32
    %ia7 = arith.constant 7 : index
    memref.store %i7, %integers[%ia7] : memref<10xi32>
    %i8 = gpu.all_reduce xor %plus1 uniform {} : (i32) -> i32
    %ia8 = arith.constant 8 : index
    memref.store %i8, %integers[%ia8] : memref<10xi32>
    %i9 = gpu.all_reduce %v uniform {
    ^bb0(%a: i32, %b: i32):
      %sum = arith.addi %a, %b : i32
      gpu.yield %sum : i32
    } : (i32) -> i32
    %ia9 = arith.constant 9 : index
    memref.store %i9, %integers[%ia9] : memref<10xi32>
    %f0 = gpu.all_reduce add %half uniform {} : (f32) -> f32
    %fa0 = arith.constant 0 : index
    memref.store %f0, %floats[%fa0] : memref<8xf32>
    %f1 = gpu.all_reduce mul %fsmall uniform {} : (f32) -> f32
    %fa1 = arith.constant 1 : index
    memref.store %f1, %floats[%fa1] : memref<8xf32>
    %f2 = gpu.all_reduce minnumf %holed uniform {} : (f32) -> f32
    %fa2 = arith.constant 2 : index
    memref.store %f2, %floats[%fa2] : memref<8xf32>
    %f3 = gpu.all_reduce maxnumf %holed uniform {} : (f32) -> f32
    %fa3 = arith.constant 3 : index
    memref.store %f3, %floats[%fa3] : memref<8xf32>
    %f4 = gpu.all_reduce minimumf %centred uniform {} : (f32) -> f32
    %fa4 = arith.constant 4 : index
    memref.store %f4, %floats[%fa4] : memref<8xf32>
    %f5 = gpu.all_reduce maximumf %centred uniform {} : (f32) -> f32
    %fa5 = arith.constant 5 : index
    memref.store %f5, %floats[%fa5] : memref<8xf32>
    %f6 = gpu.all_reduce minimumf %holed uniform {} : (f32) -> f32
    %fa6 = arith.constant 6 : index
    memref.store %f6, %floats[%fa6] : memref<8xf32>
    %f7 = gpu.all_reduce maximumf %holed uniform {} : (f32) -> f32
    %fa7 = arith.constant 7 : index
    memref.store %f7, %floats[%fa7] : memref<8xf32>
    %warp = gpu.subgroup_reduce add %v : (i32) -> i32
    %four = gpu.subgroup_reduce add %v cluster(size = 4) : (i32) -> i32
    %strided = gpu.subgroup_reduce add %v cluster(size = 4, stride = 2) : (i32) -> i32
    %at0 = arith.constant 0 : index
    %at1 = arith.constant 1 : index
    %at2 = arith.constant 2 : index
    memref.store %warp, %groups[%at0, %thread] : memref<3x100xi32>
    memref.store %four, %groups[%at1, %thread] : memref<3x100xi32>
    memref.store %strided, %groups[%at2, %thread] : memref<3x100xi32>
    gpu.terminator
  }
  %shown_integers = memref.alloc() : memref<10xi32>
  gpu.memcpy %shown_integers, %integers : memref<10xi32>, memref<10xi32>
  %any_integers = memref.cast %shown_integers : memref<10xi32> to memref<*xi32>
  call @printMemrefI32(%any_integers) : (memref<*xi32>) -> ()
  %shown_floats = memref.alloc() : memref<8xf32>
  gpu.memcpy %shown_floats, %floats : memref<8xf32>, memref<8xf32>
  %any_floats = memref.cast %shown_floats : memref<8xf32> to memref<*xf32>
  call @printMemrefF32(%any_floats) : (memref<*xf32>) -> ()
  %all_groups = memref.alloc() : memref<3x100xi32>
  gpu.memcpy %all_groups, %groups : memref<3x100xi32>, memref<3x100xi32>
  %warps = memref.subview %all_groups[0, 0][1, 4][1, 32]
      : memref<3x100xi32> to memref<1x4xi32, strided<[100, 32]>>
  %shown_warps = memref.alloc() : memref<1x4xi32>
  memref.copy %warps, %shown_warps : memref<1x4xi32, strided<[100, 32]>> to memref<1x4xi32>
  %any_warps = memref.cast %shown_warps : memref<1x4xi32> to memref<*xi32>
  call @printMemrefI32(%any_warps) : (memref<*xi32>) -> ()
  %clusters = memref.subview %all_groups[1, 5][2, 2][1, 28]
      : memref<3x100xi32> to memref<2x2xi32, strided<[100, 28], offset: 105>>
  %shown_clusters = memref.alloc() : memref<2x2xi32>
  memref.copy %clusters, %shown_clusters
      : memref<2x2xi32, strided<[100, 28], offset: 105>> to memref<2x2xi32>
  %any_clusters = memref.cast %shown_clusters : memref<2x2xi32> to memref<*xi32>
  call @printMemrefI32(%any_clusters) : (memref<*xi32>) -> ()
  return
}

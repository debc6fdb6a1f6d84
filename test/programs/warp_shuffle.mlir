// A butterfly sum over each warp by xor shuffles, and each lane's neighbour by up, down and idx.
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %one = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %device = gpu.alloc () : memref<4x64xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
    %width = arith.constant 32 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c7 = arith.constant 7 : i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %v0 = arith.index_cast %tx : index to i32
    %s1, %p1 = gpu.shuffle xor %v0, %c1, %width : i32
    %v1 = arith.addi %v0, %s1 : i32
    %s2, %p2 = gpu.shuffle xor %v1, %c2, %width : i32
    %v2 = arith.addi %v1, %s2 : i32
    %s3, %p3 = gpu.shuffle xor %v2, %c4, %width : i32
    %v3 = arith.addi %v2, %s3 : i32
    %s4, %p4 = gpu.shuffle xor %v3, %c8, %width : i32
    %v4 = arith.addi %v3, %s4 : i32
    %s5, %p5 = gpu.shuffle xor %v4, %c16, %width : i32
    %sum = arith.addi %v4, %s5 : i32
    %up, %p6 = gpu.shuffle up %v0, %c1, %width : i32
    %down, %p7 = gpu.shuffle down %v0, %c1, %width : i32
    %seventh, %p8 = gpu.shuffle idx %v0, %c7, %width : i32
    %minus = arith.constant -1 : i32
    %up_or = arith.select %p6, %up, %minus : i32
    %down_or = arith.select %p7, %down, %minus : i32
    %row0 = arith.constant 0 : index
    %row1 = arith.constant 1 : index
    %row2 = arith.constant 2 : index
    %row3 = arith.constant 3 : index
    memref.store %sum, %device[%row0, %tx] : memref<4x64xi32>
    memref.store %up_or, %device[%row1, %tx] : memref<4x64xi32>
    memref.store %down_or, %device[%row2, %tx] : memref<4x64xi32>
    memref.store %seventh, %device[%row3, %tx] : memref<4x64xi32>
    gpu.terminator
  }
  %host = memref.alloc() : memref<4x64xi32>
  gpu.memcpy %host, %device : memref<4x64xi32>, memref<4x64xi32>
  // Lanes 30 to 33: the end of the first warp and the start of the second.
  %lanes = memref.subview %host[0, 30][4, 4][1, 1]
      : memref<4x64xi32> to memref<4x4xi32, strided<[64, 1], offset: 30>>
  %shown = memref.alloc() : memref<4x4xi32>
  memref.copy %lanes, %shown
      : memref<4x4xi32, strided<[64, 1], offset: 30>> to memref<4x4xi32>
  %any = memref.cast %shown : memref<4x4xi32> to memref<*xi32>
  call @printMemrefI32(%any) : (memref<*xi32>) -> ()
  return
}

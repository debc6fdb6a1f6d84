// A device counter and a constant table, both named by the host too: it declares them, and reads
// and writes them through their device address.
module attributes {gpu.container_module} {
  memref.global "private" @counter : memref<1xi32>
  memref.global "private" @table : memref<4xi32>
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

  gpu.module @counting {
    memref.global @counter : memref<1xi32> = dense<100>
    memref.global @table : memref<4xi32> = dense<[1, 2, 3, 4]>
    gpu.func @count() kernel {
      %zero = arith.constant 0 : index
      %four = arith.constant 4 : index
      %thread = gpu.thread_id x
      %at = arith.remui %thread, %four : index
      %counter = memref.get_global @counter : memref<1xi32>
      %table = memref.get_global @table : memref<4xi32>
      %value = memref.load %table[%at] : memref<4xi32>
      %old = memref.atomic_rmw addi %value, %counter[%zero] : (i32, memref<1xi32>) -> i32
      gpu.return
    }
  }

  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    // 100 + 8 * (1 + 2 + 3 + 4) = 180.
    gpu.launch_func @counting::@count blocks in (%one, %one, %one)
        threads in (%threads, %one, %one)
    call @show() : () -> ()
    // With a table of tens: 180 + 8 * 100 = 980.
    %tens = memref.get_global @tens : memref<4xi32>
    %table = memref.get_global @table : memref<4xi32>
    gpu.memcpy %table, %tens : memref<4xi32>, memref<4xi32>
    gpu.launch_func @counting::@count blocks in (%one, %one, %one)
        threads in (%threads, %one, %one)
    call @show() : () -> ()
    return
  }
  memref.global "private" constant @tens : memref<4xi32> = dense<[10, 20, 30, 40]>

  func.func private @show() {
    %counter = memref.get_global @counter : memref<1xi32>
    %host = memref.alloc() : memref<1xi32>
    gpu.memcpy %host, %counter : memref<1xi32>, memref<1xi32>
    %any = memref.cast %host : memref<1xi32> to memref<*xi32>
    call @printMemrefI32(%any) : (memref<*xi32>) -> ()
    return
  }
}

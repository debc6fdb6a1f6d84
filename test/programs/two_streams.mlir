// Two kernels on two streams run at the same time: each waits until the other has begun.
// A single stream would never get past the first, which gives up and writes 0 after 2^28 looks.
module attributes {gpu.container_module} {
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

  gpu.module @rendezvous {
    gpu.func @meet(%flags: memref<2xi32>, %met: memref<2xi32>, %me: index, %other: index) kernel {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %first = arith.constant 0 : index
      %step = arith.constant 1 : index
      %patience = arith.constant 268435456 : index
      %old = memref.atomic_rmw assign %one, %flags[%me] : (i32, memref<2xi32>) -> i32
      %seen:2 = scf.while (%looks = %first, %flag = %zero) : (index, i32) -> (index, i32) {
        %waiting = arith.cmpi eq, %flag, %zero : i32
        %patient = arith.cmpi ult, %looks, %patience : index
        %again = arith.andi %waiting, %patient : i1
        scf.condition(%again) %looks, %flag : index, i32
      } do {
      ^bb0(%looks: index, %flag: i32):
        %now = memref.atomic_rmw ori %zero, %flags[%other] : (i32, memref<2xi32>) -> i32
        %next = arith.addi %looks, %step : index
        scf.yield %next, %now : index, i32
      }
      memref.store %seen#1, %met[%me] : memref<2xi32>
      gpu.return
    }
  }

  func.func @main() {
    %one = arith.constant 1 : index
    %left = arith.constant 0 : index
    %right = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %start = gpu.wait async
    %flags, %t0 = gpu.alloc async [%start] () : memref<2xi32>
    %met, %t1 = gpu.alloc async [%t0] () : memref<2xi32>
    %t2 = gpu.memset async [%t1] %flags, %zero : memref<2xi32>, i32
    %t3 = gpu.memset async [%t2] %met, %zero : memref<2xi32>, i32
    gpu.wait [%t3]
    %a0 = gpu.wait async
    %b0 = gpu.wait async
    %a1 = gpu.launch_func async [%a0] @rendezvous::@meet
        blocks in (%one, %one, %one) threads in (%one, %one, %one)
        args(%flags : memref<2xi32>, %met : memref<2xi32>, %left : index, %right : index)
    %b1 = gpu.launch_func async [%b0] @rendezvous::@meet
        blocks in (%one, %one, %one) threads in (%one, %one, %one)
        args(%flags : memref<2xi32>, %met : memref<2xi32>, %right : index, %left : index)
    %joined = gpu.wait async [%a1, %b1]
    %host = memref.alloc() : memref<2xi32>
    %c0 = gpu.memcpy async [%joined] %host, %met : memref<2xi32>, memref<2xi32>
    %c1 = gpu.dealloc async [%c0] %flags : memref<2xi32>
    %c2 = gpu.dealloc async [%c1] %met : memref<2xi32>
    gpu.wait [%c2]
    %any = memref.cast %host : memref<2xi32> to memref<*xi32>
    call @printMemrefI32(%any) : (memref<*xi32>) -> ()
    return
  }
}

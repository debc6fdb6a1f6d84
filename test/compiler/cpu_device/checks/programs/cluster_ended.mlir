// Threads arrive at a barrier in the shared memory of the other block of their cluster. What they
// meet at before they end is relaxed: that block may have gone when they come.
// EXPECT: race: access to the shared memory of another block of the cluster in kernel .*arrive.* at .*cluster_ended.mlir:ARRIVE:9, block \([01],0,0\) thread \(0,0,0\), and the end of block \([01],0,0\) with nothing that orders them: address 0x[0-9a-f]+ is at byte 0 of the block's shared variable barrier of 8 bytes
module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @barrier : memref<1xi64, 3>
    gpu.func @arrive() kernel {
      %barrier = memref.get_global @barrier : memref<1xi64, 3>
      %index = memref.extract_aligned_pointer_as_index %barrier : memref<1xi64, 3> -> index
      %bits = arith.index_cast %index : index to i64
      %own = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %is_first = arith.cmpi eq, %thread, %zero : i32
      scf.if %is_first {
        nvvm.mbarrier.init %own, %one : !llvm.ptr<3>, i32
        nvvm.fence.mbarrier.init
      }
      nvvm.cluster.arrive.relaxed
      nvvm.cluster.wait
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %other = arith.subi %one, %rank : i32
      %its = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
      scf.if %is_first {
        nvvm.mbarrier.arrive %its {scope = #nvvm.mem_scope<cluster>, relaxed = true} : !llvm.ptr<7> // ARRIVE
      }
      nvvm.cluster.arrive.relaxed
      nvvm.cluster.wait
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @kernels::@arrive clusters in (%two, %one, %one) blocks in (%two, %one, %one)
        threads in (%threads, %one, %one)
    return
  }
}

// As cluster_ended.mlir, but each block waits for the phase that the other's arrival ends; or all meet
// at a barrier that is not relaxed, or is one after a fence.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @barrier : memref<1xi64, 3>
    gpu.func @arrive(%way: i32) kernel {
      %barrier = memref.get_global @barrier : memref<1xi64, 3>
      %index = memref.extract_aligned_pointer_as_index %barrier : memref<1xi64, 3> -> index
      %bits = arith.index_cast %index : index to i64
      %own = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      %ticks = arith.constant 1000 : i32
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
        nvvm.mbarrier.arrive %its {scope = #nvvm.mem_scope<cluster>, relaxed = true} : !llvm.ptr<7>
      }
      %waits = arith.cmpi eq, %way, %zero : i32
      %tells = arith.cmpi eq, %way, %one : i32
      %fences = arith.cmpi eq, %way, %two : i32
      scf.if %waits {
        nvvm.mbarrier.try_wait.parity %own, %zero, %ticks : !llvm.ptr<3>, i32, i32
      }
      scf.if %tells {
        nvvm.cluster.arrive
        nvvm.cluster.wait
      }
      scf.if %fences {
        nvvm.fence.sc.cluster
        nvvm.cluster.arrive.relaxed
        nvvm.cluster.wait
      }
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %zero = arith.constant 0 : index
    %threads = arith.constant 32 : index
    scf.for %each = %zero to %three step %one {
      %way = arith.index_cast %each : index to i32
      gpu.launch_func @kernels::@arrive clusters in (%two, %one, %one) blocks in (%two, %one, %one)
          threads in (%threads, %one, %one) args(%way : i32)
    }
    return
  }
}

// A kernel that knows its grid to have 2 blocks, launched once with as many and once with more, which
// the host finds out before the launch.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @show() kernel attributes {known_grid_size = array<i32: 2, 1, 1>} {
      %last = arith.constant 1 : index
      %block = gpu.block_id x
      %is_last = arith.cmpi eq, %block, %last : index
      scf.if %is_last {
        %blocks = gpu.grid_dim x
        gpu.printf "of %lld\n", %blocks : index
      }
      gpu.return
    }
  }
  func.func private @launch(%blocks: index) attributes {no_inline} {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@show blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @main() {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    call @launch(%c2) : (index) -> ()
    call @launch(%c4) : (index) -> ()
    return
  }
}

// inputs: 1000xf32=@random:1 2.5
// A kernel of the program's own, launched with a grid that depends on its input.
module attributes {gpu.container_module} {
  gpu.module @mine {
    gpu.func @scale(%x: memref<?xf32>, %y: memref<?xf32>, %by: f32) kernel {
      %zero = arith.constant 0 : index
      %n = memref.dim %x, %zero : memref<?xf32>
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %first = arith.muli %block, %size : index
      %i = arith.addi %first, %thread : index
      %is_inside = arith.cmpi ult, %i, %n : index
      scf.if %is_inside {
        %v = memref.load %x[%i] : memref<?xf32>
        %r = arith.mulf %v, %by : f32
        memref.store %r, %y[%i] : memref<?xf32>
      }
      gpu.return
    }
  }
  "hir.kernel"() {sym_name = "scale", function = @mine::@scale, writes = array<i64: 1>} : () -> ()
  "hir.program"() ({
  ^bb0(%x: memref<?xf32>, %by: f32):
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %n = memref.dim %x, %zero : memref<?xf32>
    %blocks = arith.ceildivui %n, %threads : index
    %y = "hir.allocate"(%n) : (index) -> memref<?xf32>
    "hir.launch"(%blocks, %one, %one, %threads, %one, %one, %zero) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
      "hir.argument"(%y) : (memref<?xf32>) -> ()
      "hir.argument"(%by) : (f32) -> ()
    }) {kernel = @scale} : (index, index, index, index, index, index, index) -> ()
    "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
  }) {sym_name = "main", inputs = [{name = "x"}, {name = "by"}],
      function_type = (memref<?xf32>, f32) -> memref<?xf32>} : () -> ()
}

// A program with one kernel, which writes into the buffer handed in or one that it allocates; and
// the kernel alone, which C launches.

gpu.module @kernels {
  gpu.func @double(%x: memref<?xf32, strided<[?], offset: ?>>, %y: memref<?xf32, strided<[?], offset: ?>>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %zero = arith.constant 0 : index
    %n = memref.dim %x, %zero : memref<?xf32, strided<[?], offset: ?>>
    %block = gpu.block_id x
    %threads = gpu.block_dim x
    %thread = gpu.thread_id x
    %before = arith.muli %block, %threads : index
    %i = arith.addi %before, %thread : index
    %inside = arith.cmpi ult, %i, %n : index
    scf.if %inside {
      %v = memref.load %x[%i] : memref<?xf32, strided<[?], offset: ?>>
      %w = arith.addf %v, %v : f32
      memref.store %w, %y[%i] : memref<?xf32, strided<[?], offset: ?>>
    }
    gpu.return
  }
}

"hir.program"() ({
^bb0(%x: memref<?xf32, strided<[?], offset: ?>>):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %threads = arith.constant 256 : index
  %n = memref.dim %x, %zero : memref<?xf32, strided<[?], offset: ?>>
  %blocks = arith.ceildivui %n, %threads : index
  %y = "hir.allocate"(%n) {output = 0 : i64} : (index) -> memref<?xf32, strided<[?], offset: ?>>
  "hir.launch"(%blocks, %one, %one, %threads, %one, %one, %zero) ({
    "hir.argument"(%x) : (memref<?xf32, strided<[?], offset: ?>>) -> ()
    "hir.argument"(%y) : (memref<?xf32, strided<[?], offset: ?>>) -> ()
  }) {kernel = @kernels::@double} : (index, index, index, index, index, index, index) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?xf32, strided<[?], offset: ?>>) -> ()
}) {sym_name = "double", inputs = [{name = "x", sizes = ["n"]}],
    function_type = (memref<?xf32, strided<[?], offset: ?>>) -> memref<?xf32>} : () -> ()

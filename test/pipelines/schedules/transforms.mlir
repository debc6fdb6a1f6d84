// Tiles multiplied by constant matrices: a tile a thread, 128 threads, results 16 bytes at a time.
//
// RUN: sed 's/ASKED//' %s > %t.own.mlir
// RUN: hirc-opt %t.own.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,OWN
// RUN: sed 's/ASKED/hir.configuration = {family = "transforms", width = 2, threads = 64}/' %s > %t.two.mlir
// RUN: hirc-opt %t.two.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,TWO
//
// OWN:  gpu.func @transform_0{{.*}}threads = 128 : i64, width = 4 : i64{{.*}}known_block_size = array<i32: 128, 1, 1>
// TWO:  gpu.func @transform_0{{.*}}threads = 64 : i64, width = 2 : i64{{.*}}known_block_size = array<i32: 64, 1, 1>
//
// Sums of two, and differences with the last but one: no product with 1 or 0, and one addition each.
// ALL-COUNT-5: llvm.load
// ALL:         arith.addf
// ALL:         arith.subf
// ALL-NOT:     arith.mulf
// ALL:         math.fma
// ALL-NOT:     arith.mulf
// The last tile of 26 results has two: they are stored where they are there.
// OWN:         llvm.store {{.*}} : vector<4xf32>
// OWN-COUNT-4: llvm.store {{.*}} : f32
// TWO-COUNT-2: llvm.store {{.*}} : vector<2xf32>
// TWO-COUNT-4: llvm.store {{.*}} : f32
// ALL:         gpu.return

// RUN: sed 's/ASKED/hir.configuration = {family = "transforms", width = 8}/' %s > %t.eight.mlir
// RUN: not hirc-opt %t.eight.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=EIGHT
// EIGHT: error: hir.configuration: 'width' is a power of two up to 4
// RUN: sed 's/ASKED/hir.configuration = {family = "transforms", threads = 48}/' %s > %t.threads.mlir
// RUN: not hirc-opt %t.threads.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: hir.configuration: 'threads' is a multiple of 32 up to 1024

"hir.program"() ({
^bb0(%x: memref<5x1024x7xf32>):
  %y = "hir.allocate"() : () -> memref<1024x28xf32>
  %r = memref.subview %y[0, 0] [1024, 26] [1, 1] : memref<1024x28xf32> to memref<1024x26xf32, strided<[28, 1]>>
  %four = "hir.allocate"() : () -> memref<4xf32>
  linalg.generic {
    indexing_maps = [affine_map<(n, o, i) -> (i, n, o floordiv 4)>, affine_map<(n, o, i) -> (o mod 4)>,
                     affine_map<(n, o, i) -> (n, o)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %four : memref<5x1024x7xf32>, memref<4xf32>) outs(%r : memref<1024x26xf32, strided<[28, 1]>>)
      attrs = {ASKED} {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %c4 = arith.constant 4 : index
    %o = linalg.index 1 : index
    %i = linalg.index 2 : index
    %row = arith.remui %o, %c4 : index
    %m = "hir.matrix_element"(%row, %i) {matrix = dense<[[1.0, 1.0, 0.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 1.0, -1.0]]> : tensor<4x5xf32>} : (index, index) -> f32
    %p = arith.mulf %a, %m : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<5x1024x7xf32>) -> ()} : () -> ()

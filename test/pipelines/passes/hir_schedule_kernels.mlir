// RUN: hirc-opt %s --split-input-file -p hir-schedule-kernels | FileCheck %s

// Sizes that one loop goes through are compared, then kernels are launched with buffers and sizes,
// by a function of the host that every operation of this structure has.

// CHECK-LABEL: "hir.program"()
// CHECK:      ^bb0(%[[X:.*]]: memref<?x64xf32>, %[[Y:.*]]: memref<?x64xf32, strided<[?, ?], offset: ?>>):
// CHECK:        %[[N:.*]] = memref.dim %[[X]], %c0
// CHECK:        %[[M:.*]] = memref.dim %[[Y]], %c0
// CHECK:        "hir.run_launcher"() ({
// CHECK-NEXT:     "hir.argument"(%[[X]])
// CHECK-NEXT:     "hir.argument"(%[[Y]])
// CHECK-NEXT:     "hir.argument"(%[[N]])
// CHECK-NEXT:     "hir.argument"(%[[M]])
// CHECK:        }) {launcher = @launch_negf_0}
// CHECK-NOT:  linalg
// CHECK:      "hir.launcher"()
// CHECK:      ^bb0(%[[X:.*]]: memref<?x64xf32>, %[[Y:.*]]: memref<?x64xf32, strided<[?, ?], offset: ?>>, %[[N:.*]]: index, %[[M:.*]]: index, %{{.*}}: index, %{{.*}}: index):
// CHECK:        %[[SAME:.*]] = arith.cmpi eq, %[[N]], %[[M]]
// CHECK:        cf.assert %[[SAME]], "dim 0 of operand 0 and dim 0 of operand 1 are one loop of linalg.generic and must have the same size"
// CHECK:        "hir.launch"(%{{.*}}, %[[ONE:.*]], %[[ONE]], %c256{{.*}}, %[[ONE]], %[[ONE]], %c0{{.*}}) ({
// CHECK:          "hir.argument"(%[[X]])
// CHECK:          "hir.argument"(%[[Y]])
// CHECK:        }) {kernel = @kernels::@negf_0}
// CHECK:        sym_name = "launch_negf_0"
// CHECK:      gpu.module @kernels
// CHECK:        gpu.func @negf_0({{.*}}) kernel attributes {{{.*}}known_block_size = array<i32: 256, 1, 1>
"hir.program"() ({
^bb0(%x: memref<?x64xf32>, %y: memref<?x64xf32, strided<[?, ?], offset: ?>>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32, strided<[?, ?], offset: ?>>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  }
}) {sym_name = "main",
    function_type = (memref<?x64xf32>, memref<?x64xf32, strided<[?, ?], offset: ?>>) -> ()} : () -> ()

// -----

// The general schedule takes what reads its output: one thread takes an element, and the next a grid
// further on. It accumulates in a register, from what is in the output.

// CHECK-LABEL: gpu.func @addf_0(
// CHECK-SAME:    %[[IN:.*]]: memref<8x?xf32>, %[[OUT:.*]]: memref<8xf32>)
// CHECK:           scf.for %[[ROW:.*]] = {{.*}} {
// CHECK:             %[[START:.*]] = memref.load %[[OUT]][%[[ROW]]]
// CHECK:             %[[SUM:.*]] = scf.for %[[K:.*]] = {{.*}} iter_args(%[[SO_FAR:.*]] = %[[START]])
// CHECK-NEXT:          %[[V:.*]] = memref.load %[[IN]][%[[ROW]], %[[K]]]
// CHECK-NEXT:          %[[NEXT:.*]] = arith.addf %[[V]], %[[SO_FAR]]
// CHECK-NEXT:          scf.yield %[[NEXT]]
// CHECK:             memref.store %[[SUM]], %[[OUT]][%[[ROW]]]
"hir.program"() ({
^bb0(%x: memref<8x?xf32>, %y: memref<8xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<8x?xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  }
}) {sym_name = "main", function_type = (memref<8x?xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

// Equal work is launched by one function; a number from outside is an argument, a constant is not;
// an index is the loop's. Nothing is launched for no elements.

// CHECK-LABEL: "hir.program"()
// CHECK:         ^bb0(%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>, %[[EMPTY:.*]]: memref<0xf32>, %[[S:.*]]: f32):
// CHECK:         "hir.run_launcher"
// CHECK-NEXT:      "hir.argument"(%[[X]])
// CHECK-NEXT:      "hir.argument"(%[[S]])
// CHECK-NEXT:    }) {launcher = @[[LAUNCHER:.*]]}
// CHECK:         "hir.run_launcher"
// CHECK-NEXT:      "hir.argument"(%[[Y]])
// CHECK-NEXT:      "hir.argument"(%[[S]])
// CHECK-NEXT:    }) {launcher = @[[LAUNCHER]]}
// CHECK-NOT:     "hir.run_launcher"
// CHECK:         "hir.launcher"() ({
// CHECK-NEXT:    ^bb0(%[[Z:.*]]: memref<8xf32>, %[[S:.*]]: f32):
// CHECK:         "hir.launch"
// CHECK-NEXT:      "hir.argument"(%[[S]])
// CHECK-NEXT:      "hir.argument"(%[[Z]])
// CHECK:         {kernel = @kernels_1::@[[KERNEL:.*]]}
// CHECK:         "hir.launch"
// CHECK:         {kernel = @kernels_1::@[[NARROW:.*]]}
// CHECK:         sym_name = "[[LAUNCHER]]"
// CHECK-NOT:     "hir.launcher"
// CHECK:       gpu.module @kernels_1
// CHECK:         gpu.func @[[KERNEL]](
// CHECK:         gpu.func @[[NARROW]](
// CHECK-NOT:     gpu.func
gpu.module @kernels {}
"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<0xf32>, %s: f32):
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<8xf32>) {
  ^bb0(%b: f32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i32
    %f = arith.sitofp %w : i32 to f32
    %p = arith.mulf %f, %two : f32
    %r = arith.mulf %p, %s : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%y : memref<8xf32>) {
  ^bb0(%b: f32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i32
    %f = arith.sitofp %w : i32 to f32
    %p = arith.mulf %f, %two : f32
    %r = arith.mulf %p, %s : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%z : memref<0xf32>) {
  ^bb0(%b: f32):
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<8xf32>, memref<8xf32>, memref<0xf32>, f32) -> ()} : () -> ()

// -----

// Indices may be any affine expression. An output that iterations share is not spread over threads:
// one thread goes through all of it, in memory.

// CHECK-LABEL: gpu.func @mulf_addf_0(
// CHECK:         scf.for
// CHECK:           scf.for %[[K:.*]] = {{.*}} iter_args
// CHECK:             affine.apply
// CHECK-LABEL: gpu.func @addf_1(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               memref.load
// CHECK:               memref.store
"hir.program"() ({
^bb0(%x: memref<10xf32>, %w: memref<3xf32>, %y: memref<8xf32>, %one: memref<1xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x, %w : memref<10xf32>, memref<3xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %p, %c : f32
    linalg.yield %r : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i - k + 2)>],
    iterator_types = ["reduction", "reduction"]
  } ins(%y, %w : memref<8xf32>, memref<3xf32>) outs(%x : memref<10xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %r = arith.addf %a, %c : f32
    linalg.yield %r : f32
  }
}) {sym_name = "main",
    function_type = (memref<10xf32>, memref<3xf32>, memref<8xf32>, memref<1xf32>) -> ()} : () -> ()

// -----

// Kernels see tf32 as f32: its elements need no extension, and what becomes tf32 is rounded.

// CHECK-LABEL: "hir.program"()
// CHECK:      ^bb0(%[[X:.*]]: memref<?xtf32>, %[[Y:.*]]: memref<?xtf32>):
// CHECK:        %[[XS:.*]] = builtin.unrealized_conversion_cast %[[X]] : memref<?xtf32> to memref<?xf32>
// CHECK:          "hir.argument"(%[[XS]]) : (memref<?xf32>) -> ()
// CHECK:      gpu.func @mulf_addf_{{.*}}(%[[IN:.*]]: memref<?xf32>, %[[OUT:.*]]: memref<?xf32>)
// CHECK:        %[[A:.*]] = memref.load %[[IN]]
// CHECK-NEXT:   %[[B:.*]] = memref.load %[[OUT]]
// CHECK:        %[[TWICE:.*]] = arith.mulf %[[A]], %{{.*}} : f32
// CHECK:        %[[SUM:.*]] = arith.addf %[[TWICE]], %[[B]] : f32
// CHECK:        arith.bitcast %[[SUM]] : f32 to i32
// CHECK:        %[[ROUNDED:.*]] = arith.select
// CHECK-NEXT:   memref.store %[[ROUNDED]], %[[OUT]]
// CHECK-NOT:    tf32
"hir.program"() ({
^bb0(%x: memref<?xtf32>, %y: memref<?xtf32>):
  %two = arith.constant 2.0 : tf32
  linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%x : memref<?xtf32>) outs(%y : memref<?xtf32>) {
  ^bb0(%a: tf32, %b: tf32):
    %p = arith.mulf %a, %two : tf32
    %r = arith.addf %p, %b : tf32
    linalg.yield %r : tf32
  }
}) {sym_name = "main", function_type = (memref<?xtf32>, memref<?xtf32>) -> ()} : () -> ()

// -----

// Sums of narrow floats are kept in f32, and rounded when they are stored.

// CHECK-LABEL: gpu.func @addf_0(
// CHECK:           %[[ELEMENT:.*]] = memref.load %[[OUT:.*]][%{{.*}}] : memref<8xbf16>
// CHECK-NEXT:      %[[START:.*]] = arith.extf %[[ELEMENT]] : bf16 to f32
// CHECK:           %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %[[START]]) -> (f32)
// CHECK-NEXT:        %[[V:.*]] = memref.load
// CHECK-NEXT:        %[[W:.*]] = arith.extf %[[V]] : bf16 to f32
// CHECK-NEXT:        %[[NEXT:.*]] = arith.addf %[[W]], %[[SO_FAR]] : f32
// CHECK-NEXT:        scf.yield %[[NEXT]] : f32
// CHECK:           %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK:           memref.store %[[ROUNDED]], %[[OUT]]
"hir.program"() ({
^bb0(%x: memref<8x?xbf16>, %y: memref<8xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<8x?xbf16>) outs(%y : memref<8xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %r = arith.addf %a, %b : bf16
    linalg.yield %r : bf16
  }
}) {sym_name = "main", function_type = (memref<8x?xbf16>, memref<8xbf16>) -> ()} : () -> ()

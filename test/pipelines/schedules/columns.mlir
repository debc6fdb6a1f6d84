// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90a},hir.launcher(canonicalize,cse),gpu.module(canonicalize,cse)' | FileCheck %s

// Columns that fill the device take all rows in one kernel of large blocks: no split. A thread has
// eight accesses of 16 bytes under way, and a block one barrier. Rows at other addresses are read
// in aligned pieces.

// CHECK-LABEL: "hir.launcher"()
// CHECK-NOT:    "hir.allocate"
// CHECK:        "hir.if"
// CHECK-NEXT:     "hir.launch"(%c256, %c1, %c1, %c512
// CHECK:          kernel = @kernels::@reduce_loops_0
// CHECK-NEXT:   }, {
// CHECK:          kernel = @kernels::@reduce_loops_part_1
// CHECK-LABEL: gpu.func @reduce_loops_0(
// CHECK-NOT:     gpu.block_id y
// CHECK:         scf.for
// CHECK-COUNT-8:   llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:       llvm.load
// CHECK-COUNT-32:  arith.addf
// CHECK:           scf.yield
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @reduce_loops_part_1(
// CHECK:         arith.andi %{{.*}}, %c15
// CHECK:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-LABEL: gpu.func @reduce_loops_2(
"hir.program"() ({
^bb0(%x: memref<16384x16384xf32>, %y: memref<16384xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : memref<16384x16384xf32>) outs(%y : memref<16384xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<16384x16384xf32>, memref<16384xf32>) -> ()} : () -> ()

// -----

// Columns that do not fill the device: each block takes 128 of them in a part of the rows, and a
// second kernel adds the parts. A thread has four accesses of 16 bytes under way, and a block one
// barrier.

// CHECK-LABEL: "hir.launcher"()
// CHECK:      ^bb0(%[[X:.*]]: memref<16384x1024xf32>, %[[Y:.*]]: memref<1024xf32>):
// CHECK:        "hir.if"
// CHECK:          %[[PARTS:.*]] = "hir.allocate"() {hirc.scratch} : () -> memref<65536xf32>
// CHECK:          "hir.launch"(%c8, %c64, %c1, %c256
// CHECK-NEXT:       "hir.argument"(%[[X]])
// CHECK-NEXT:       "hir.argument"(%[[PARTS]])
// CHECK-NEXT:     kernel = @kernels::@reduce_loops_part_0
// CHECK:          "hir.launch"(%c8, %c1, %c1, %c256
// CHECK-NEXT:       "hir.argument"(%[[PARTS]])
// CHECK-NEXT:       "hir.argument"(%[[Y]])
// CHECK-NEXT:     kernel = @kernels::@reduce_loops_1
// CHECK:          "hir.deallocate"(%[[PARTS]])
// CHECK-LABEL: gpu.func @reduce_loops_part_0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK:         gpu.block_id y
// CHECK:         scf.for
// CHECK-COUNT-4:   llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:       llvm.load
// CHECK-COUNT-16:  arith.addf
// CHECK-NOT:     scf.if
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.if
// CHECK:           llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @reduce_loops_1(
"hir.program"() ({
^bb0(%x: memref<16384x1024xf32>, %y: memref<1024xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : memref<16384x1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<16384x1024xf32>, memref<1024xf32>) -> ()} : () -> ()

// -----

// Softmax along an outer axis that is short: elements stay in registers, so each is loaded once, and
// its exponential computed once.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         "hir.launch"(%c1024, %c1, %c1, %c256
// CHECK-LABEL: gpu.func @reduce_loops_subf_exp_0(
// CHECK-NOT:     scf.for
// CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:     !llvm.ptr<1> ->
// CHECK:         gpu.barrier
// CHECK-COUNT-16: math.exp
// CHECK-NOT:     math.exp
// CHECK:         gpu.barrier
// CHECK-COUNT-4: arith.divf
// CHECK:         arith.mulf
// CHECK-COUNT-4: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<512x32x256xf32>, %y: memref<512x32x256xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(a, r, c) -> (a, r, c)>, affine_map<(a, r, c) -> (a, r, c)>],
    iterator_types = ["parallel", "reduction", "parallel"]
  } ins(%x : memref<512x32x256xf32>) outs(%y : memref<512x32x256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 1>} : (f32) -> f32
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    %s = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %q = arith.divf %e, %s : f32
    linalg.yield %q : f32
  }
}) {sym_name = "main",
    function_type = (memref<512x32x256xf32>, memref<512x32x256xf32>) -> ()} : () -> ()

// -----

// Open sizes: where columns fill the device, one kernel does all. Else the parts are counted before
// the launch, and their memory has a bound; the same kernel takes all rows where there is one part,
// and one thread takes a column's where they are few. A block has as many columns of threads as
// there are vectors side by side, or as leave each thread enough rows; threads of a column merge in
// halves until eight are left. The same in aligned pieces of rows at any address, and in single
// elements. One kernel merges the parts of all.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         %[[VECTORS:.*]] = arith.ceildivui %{{.*}}, %c4
// CHECK:         arith.ceildivui %c1024, %{{.*}}
// CHECK:         %[[WANTED:.*]] = arith.minui %{{.*}}, %[[VECTORS]]
// CHECK:         arith.cmpi ugt, %[[WANTED]], %c16
// CHECK:         arith.divui %c528
// CHECK:         "hir.if"
// CHECK-NOT:       "hir.allocate"
// CHECK:           "hir.launch"(%{{.*}}, %c1, %c1, %c512
// CHECK:           kernel = @kernels::@reduce_loops_0
// CHECK:         "hir.if"
// CHECK:           "hir.allocate"() {hirc.scratch} : () -> memref<67584xf32>
// CHECK:           "hir.launch"(%{{.*}}, %{{.*}}, %c1, %[[LEAST:[^,]*]], %{{.*}}, %c1
// CHECK:           kernel = @kernels::@reduce_loops_1
// CHECK:           kernel = @kernels::@reduce_loops_2
// CHECK:         "hir.if"
// CHECK:           %[[FEW:.*]] = arith.cmpi ule, %{{.*}}, %c16
// CHECK:           %[[LANES:.*]] = arith.select %[[FEW]], %c256, %[[LEAST]]
// CHECK:           %[[ROWS:.*]] = arith.divui %c256, %[[LANES]]
// CHECK:           "hir.launch"(%{{.*}}, %c1, %c1, %[[LANES]], %[[ROWS]], %c1
// CHECK:           kernel = @kernels::@reduce_loops_1
// CHECK:         "hir.if"
// CHECK:           "hir.allocate"() {hirc.scratch} : () -> memref<133056xf32>
// CHECK:           kernel = @kernels::@reduce_loops_3
// CHECK:           kernel = @kernels::@reduce_loops_2
// CHECK:         "hir.if"
// CHECK:           kernel = @kernels::@reduce_loops_3
// CHECK:         "hir.if"
// CHECK:           "hir.allocate"() {hirc.scratch} : () -> memref<33792xf32>
// CHECK:           kernel = @kernels::@reduce_loops_4
// CHECK:           kernel = @kernels::@reduce_loops_2
// CHECK:           kernel = @kernels::@reduce_loops_4
// CHECK-LABEL: gpu.func @reduce_loops_1(
// CHECK:         %[[DEPTH:.*]] = gpu.block_dim y
// CHECK:         %[[SEVERAL:.*]] = arith.cmpi ugt, %[[DEPTH]], %c1
// CHECK:         scf.if %[[SEVERAL]]
// CHECK:           scf.while
// CHECK:             arith.cmpi uge, %{{.*}}, %c8
// CHECK:             gpu.barrier
// CHECK:             scf.if
// CHECK:           gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         %[[PARTS:.*]] = gpu.grid_dim y
// CHECK:         arith.cmpi ugt, %[[PARTS]], %c1
// CHECK-LABEL: gpu.func @reduce_loops_2(
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// So is the work of several passes: vectors and single columns in parts, a kernel for each pass and
// one for the outputs, or whole.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         "hir.if"
// CHECK:           kernel = @kernels::@reduce_loops_subf_reduce_loops_part_0
// CHECK:           kernel = @kernels::@reduce_loops_subf_reduce_loops_part_1, overlaps
// CHECK:           kernel = @kernels::@reduce_loops_subf_reduce_loops_2, overlaps
// CHECK:         "hir.if"
// CHECK:           kernel = @kernels::@reduce_loops_subf_reduce_loops_3
// CHECK:         "hir.if"
// CHECK:           "hir.allocate"() {hirc.scratch} : () -> memref<33792xf32>
// CHECK:           kernel = @kernels::@reduce_loops_subf_reduce_loops_part_4
// CHECK:           kernel = @kernels::@reduce_loops_subf_reduce_loops_part_5, overlaps
// CHECK:           kernel = @kernels::@reduce_loops_subf_reduce_loops_6, overlaps
// CHECK:         "hir.if"
// CHECK:           kernel = @kernels::@reduce_loops_subf_reduce_loops_7
// CHECK-LABEL: gpu.func @reduce_loops_subf_reduce_loops_part_0(
// CHECK-SAME:    width = 4
// CHECK-LABEL: gpu.func @reduce_loops_subf_reduce_loops_part_4(
// CHECK-SAME:    hirc.group = "any"
// CHECK-LABEL: gpu.func @reduce_loops_subf_reduce_loops_part_5(
// CHECK-SAME:    hirc.group = "any"
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 0>} : (f32) -> f32
    %d = arith.subf %a, %m : f32
    %s = "hir.reduce_loops"(%d) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// Softmax of few long columns: blocks of fewer lanes, with more threads for each, keep all elements
// in one launch, where parts would take three. Of more rows than that, parts.

// CHECK-LABEL: "hir.launcher"()
// CHECK-NOT:     "hir.allocate"
// CHECK:         "hir.launch"(%c3, %c1, %c1, %c256
// CHECK:         kernel = @kernels::@reduce_loops_subf_exp_0
// CHECK-LABEL: "hir.launcher"()
// CHECK:         "hir.allocate"() {hirc.scratch}
// CHECK:         kernel = @kernels::@reduce_loops_subf_exp_part
// CHECK-LABEL: gpu.func @reduce_loops_subf_exp_0(
// CHECK-SAME:    lanes = 8
// CHECK-SAME:    split = false
// CHECK-NOT:     scf.for
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<73x80xf32>, %y: memref<73x80xf32>, %z: memref<8192x80xf32>, %w: memref<8192x80xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : memref<73x80xf32>) outs(%y : memref<73x80xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 0>} : (f32) -> f32
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    %s = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    %q = arith.divf %e, %s : f32
    linalg.yield %q : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%z : memref<8192x80xf32>) outs(%w : memref<8192x80xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 0>} : (f32) -> f32
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    %s = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 0>} : (f32) -> f32
    %q = arith.divf %e, %s : f32
    linalg.yield %q : f32
  }
}) {sym_name = "main",
    function_type = (memref<73x80xf32>, memref<73x80xf32>, memref<8192x80xf32>, memref<8192x80xf32>) -> ()} : () -> ()

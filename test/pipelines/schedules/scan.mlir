// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90a},hir.launcher(canonicalize,cse),gpu.module(canonicalize,cse)' | FileCheck %s

// A block takes a whole row: two vectors a thread, scanned by shuffles, and one barrier.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         "hir.launch"(%c1000, %c1, %c1, %c512
// CHECK:         kernel = @kernels::@scan_loop_0
// CHECK-LABEL: gpu.func @scan_loop_0(
// CHECK-NOT:     scf.for
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-12: gpu.shuffle up
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK-COUNT-6: gpu.shuffle up
// CHECK-COUNT-2: gpu.shuffle idx
// CHECK-COUNT-2: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<1000x4096xf32>, %y: memref<1000x4096xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<1000x4096xf32>) outs(%y : memref<1000x4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 1 : i64} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<1000x4096xf32>, memref<1000x4096xf32>) -> ()} : () -> ()

// -----

// Along an outer loop a thread takes four iterations of a vector of columns at a time, and the block
// carries each column's value from chunk to chunk.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         "hir.launch"(%c512, %c1, %c1, %c256
// CHECK-LABEL: gpu.func @scan_loop_0(
// CHECK:         scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (f32, f32, f32, f32) {
// CHECK-COUNT-4:   llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:           gpu.barrier
// CHECK-COUNT-4:   llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK:           scf.yield
"hir.program"() ({
^bb0(%x: memref<4096x16384xf32>, %y: memref<4096x16384xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : memref<4096x16384xf32>) outs(%y : memref<4096x16384xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 0 : i64, exclusive} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<4096x16384xf32>, memref<4096x16384xf32>) -> ()} : () -> ()

// -----

// Of one long row many blocks take a part each: one kernel reduces them, the other begins with what
// the parts before its own give together, and takes the last part first.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         %[[TOTALS:.*]] = "hir.allocate"() {{.*}} : () -> memref<512xf32>
// CHECK:         "hir.launch"(%c1, %c512, %c1, %c256
// CHECK:         kernel = @kernels::@scan_loop_part_0
// CHECK:         "hir.launch"(%c1, %c512, %c1, %c256
// CHECK:         kernel = @kernels::@scan_loop_1, overlaps
// CHECK:         "hir.deallocate"(%[[TOTALS]])
// CHECK-LABEL: gpu.func @scan_loop_part_0(
// CHECK:         nvvm.griddepcontrol {{.*}}launch_dependents
// CHECK:         scf.for
// CHECK-COUNT-2:   llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:         gpu.barrier
// CHECK-COUNT-1: llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT:     llvm.store {{.*}}!llvm.ptr<1>
// CHECK-LABEL: gpu.func @scan_loop_1(
// CHECK:         nvvm.griddepcontrol {{.*}}wait
// CHECK:         gpu.grid_dim
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:             llvm.load {{.*}} : !llvm.ptr<1> -> f32
// CHECK:         scf.for
// CHECK-COUNT-2:   llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
"hir.program"() ({
^bb0(%x: memref<1048576xf32>, %y: memref<1048576xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(c) -> (c)>, affine_map<(c) -> (c)>],
    iterator_types = ["reduction"]
  } ins(%x : memref<1048576xf32>) outs(%y : memref<1048576xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 0 : i64} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<1048576xf32>, memref<1048576xf32>) -> ()} : () -> ()

// -----

// Rows that a warp holds share a block: of 12 f32 each has four lanes, three of which have a vector,
// and no thread waits for those of another row. The last block has rows that are not there.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         "hir.launch"(%c32, %c1, %c1, %c128
// CHECK-LABEL: gpu.func @scan_loop_0(
// CHECK-SAME:      rows = 32 : i64, short = true
// CHECK-NOT:     gpu.barrier
// CHECK:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-3: gpu.shuffle up
// CHECK-NOT:     gpu.shuffle
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.if
// CHECK:           llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @scan_loop_1(
"hir.program"() ({
^bb0(%x: memref<1001x12xf32>, %y: memref<1001x12xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<1001x12xf32>) outs(%y : memref<1001x12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 1 : i64} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<1001x12xf32>, memref<1001x12xf32>) -> ()} : () -> ()

// -----

// Open rows: of whole vectors that fill half a warp, whose launch says how many threads a block has,
// in parts where they are few and long; short ones, several of which share a warp, and no barrier;
// and others.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         arith.cmpi uge, %{{.*}}, %c128
// CHECK:         kernel = @kernels::@scan_loop_part_0
// CHECK:         kernel = @kernels::@scan_loop_1
// CHECK:         arith.cmpi ule, %{{.*}}, %c512
// CHECK:         arith.cmpi ugt, %[[LENGTH:.*]], %c16
// CHECK:         %[[LANES:.*]] = arith.select %{{.*}}, %c32, %{{.*}}
// CHECK:         %[[TEAMS:.*]] = arith.divui %c128, %[[LANES]]
// CHECK:         "hir.launch"(%{{.*}}, %c1, %c1, %[[LANES]], %[[TEAMS]], %c1
// CHECK:         kernel = @kernels::@scan_loop_2
// CHECK:         kernel = @kernels::@scan_loop_4
// CHECK-LABEL: gpu.func @scan_loop_2(
// CHECK-SAME:    open = true, rows = 4
// CHECK:         gpu.block_dim y
// CHECK:         scf.for
// CHECK-COUNT-4:   ld.global{{.*}}b32
// CHECK:           gpu.shuffle up
// CHECK:           gpu.shuffle idx
// CHECK-NOT:     gpu.barrier
// CHECK-LABEL: gpu.func @scan_loop_part_3(
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?x?xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %d: f32):
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 1 : i64} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?x?xf32>) -> ()} : () -> ()

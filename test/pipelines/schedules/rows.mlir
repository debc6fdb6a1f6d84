// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90a},hir.launcher(canonicalize,cse),gpu.module(canonicalize,cse)' | FileCheck %s

// A block keeps a row in registers: its vectors are loaded once, before they are used, each reduction
// has one barrier, and the exponentials of the sum are those of the output. Only addresses that are
// no multiples of 16 bytes take another kernel.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         "hir.if"
// CHECK:           "hir.launch"(%c300, %c1, %c1, %c512, %c1, %c1, %c0)
// CHECK:           kernel = @kernels::@reduce_loops_subf_exp_0
// CHECK:         }, {
// CHECK:           kernel = @kernels::@reduce_loops_subf_exp_1
// CHECK-NOT:     "hir.launch"
// CHECK-LABEL: gpu.func @reduce_loops_subf_exp_0(
// CHECK-SAME:    known_block_size = array<i32: 512, 1, 1>, nvvm.minctasm = 2 : i32
// CHECK-NOT:     arith.maximumf
// CHECK-COUNT-8: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:     llvm.load
// CHECK-COUNT-31: arith.maximumf
// CHECK:         gpu.shuffle xor
// CHECK:         gpu.barrier
// CHECK-COUNT-32: math.exp
// CHECK:         gpu.barrier
// CHECK-NOT:     math.exp
// CHECK-COUNT-8: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @reduce_loops_subf_exp_1(
"hir.program"() ({
^bb0(%x: memref<300x16384xf32>, %y: memref<300x16384xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x16384xf32>) outs(%y : memref<300x16384xf32>) {
  ^bb0(%a: f32, %o: f32):
    %most = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %most : f32
    %e = math.exp %less : f32
    %sum = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %q = arith.divf %e, %sum : f32
    linalg.yield %q : f32
  }
}) {sym_name = "main", function_type = (memref<300x16384xf32>, memref<300x16384xf32>) -> ()} : () -> ()

// -----

// Eight lanes take a short row, so that a block takes 16 rows and needs no barrier.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         "hir.launch"(%c100, %c1, %c1, %c128, %c1, %c1, %c0)
// CHECK-LABEL: gpu.func @reduce_loops_0(
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.if
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<1>
"hir.program"() ({
^bb0(%x: memref<1600x128xf32>, %y: memref<1600xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1600x128xf32>) outs(%y : memref<1600xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<1600x128xf32>, memref<1600xf32>) -> ()} : () -> ()

// -----

// Many blocks sum parts of one row, and a second kernel their results: it is launched before they
// have ended, and waits.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         %[[PARTS:.*]] = "hir.allocate"() {hirc.scratch} : () -> memref<8192xf32>
// CHECK:         "hir.launch"(%c8192
// CHECK:           "hir.argument"(%[[PARTS]])
// CHECK:         kernel = @kernels::@reduce_loops_part_0
// CHECK:         "hir.launch"(%c1, %c1, %c1, %c1024
// CHECK:           "hir.argument"(%[[PARTS]])
// CHECK:         kernel = @kernels::@reduce_loops_parts_1, overlaps
// CHECK:         "hir.deallocate"(%[[PARTS]])
// CHECK-LABEL: gpu.func @reduce_loops_part_0(
// CHECK:         nvvm.griddepcontrol launch_dependents
// CHECK:         llvm.load
// CHECK-LABEL: gpu.func @reduce_loops_parts_1(
// CHECK-NOT:     llvm.load
// CHECK:         nvvm.griddepcontrol wait
"hir.program"() ({
^bb0(%x: memref<16384x16384xf32>, %y: memref<f32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> ()>],
                  iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<16384x16384xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 0, 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<16384x16384xf32>, memref<f32>) -> ()} : () -> ()

// -----

// The blocks of a cluster share a row, and write what they find into one another's shared memory.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         "hir.launch"(%c56, %c1, %c1, %c256
// CHECK:         {cluster = array<i64: 8, 1, 1>
// CHECK-LABEL: gpu.func @reduce_loops_subf_0(
// CHECK-SAME:    nvvm.cluster_dim = array<i32: 8, 1, 1>
// CHECK:         nvvm.cluster.arrive
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<4xf32>
// CHECK:         gpu.barrier
// CHECK:         nvvm.cluster.wait {aligned}
// CHECK:         nvvm.mapa
// CHECK:         llvm.store {{.*}} : f32, !llvm.ptr<7>
// CHECK:         nvvm.cluster.arrive {aligned}
// CHECK-NEXT:    nvvm.cluster.wait {aligned}
// CHECK-COUNT-16: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
"hir.program"() ({
^bb0(%x: memref<7x131072xf32>, %y: memref<7x131072xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<7x131072xf32>) outs(%y : memref<7x131072xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<7x131072xf32>, memref<7x131072xf32>) -> ()} : () -> ()

// -----

// Cross-entropy of rows that begin anywhere: the maximum and the sum come of one pass, from the first
// aligned element on, and the power may be approximate. The target is loaded before, what it points
// to after it.

// CHECK-LABEL: "hir.launcher"()
// CHECK-LABEL: gpu.func @reduce_loops_subf_exp_0(
// CHECK:         llvm.load {{.*}} -> i64
// CHECK:         scf.for {{.*}} -> (f32, f32) {
// CHECK-COUNT-4:   llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// CHECK:           math.exp {{.*}} fastmath<afn>
// CHECK:         memref.load
// CHECK:         gpu.shuffle xor
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         math.log
// CHECK-NOT:     scf.for
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<9x50257xbf16>, %t: memref<9xi64>, %y: memref<9xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>,
                                   affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %t : memref<9x50257xbf16>, memref<9xi64>) outs(%y : memref<9xf32>) {
  ^bb0(%b: bf16, %target: i64, %o: f32):
    %a = arith.extf %b : bf16 to f32
    %most = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %most : f32
    %e = math.exp %less : f32
    %sum = "hir.reduce_loops"(%e) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %l = math.log %sum : f32
    %r = linalg.index 0 : index
    %place = arith.index_cast %target : i64 to index
    %c = memref.load %x[%r, %place] : memref<9x50257xbf16>
    %d = arith.extf %c : bf16 to f32
    %z = arith.subf %d, %most : f32
    %q = arith.subf %l, %z : f32
    linalg.yield %q : f32
  }
}) {sym_name = "main", function_type = (memref<9x50257xbf16>, memref<9xi64>, memref<9xf32>) -> ()} : () -> ()

// -----

// Rows of open length: classes of lengths, for teams of eight lanes, of a warp, of a block, of a
// cluster of two, four, eight, and batches for what is longer. Each is for rows up to twice as long
// as the one before it, or less: at least half of a thread's vectors are in any of them, and only the
// others are loaded and stored under a condition. The same from each row's first aligned element on, with an
// element a thread at the edges; short rows that are not aligned take single elements.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         arith.cmpi ule, %[[LENGTH:.*]], %c128
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c512
// CHECK:         arith.cmpi uge, %[[LENGTH]], %c129
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c2048
// CHECK:         "hir.launch"(%{{.*}}, %c1, %c1, %c256,
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c8192
// CHECK:         arith.cmpi uge, %[[LENGTH]], %c4097
// CHECK:         "hir.launch"(%{{.*}}, %c1, %c1, %c512,
// CHECK:         kernel = @kernels::@[[BLOCK:.*]]} :
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c32768
// CHECK:         cluster = array<i64: 2, 1, 1>
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c65536
// CHECK:         cluster = array<i64: 4, 1, 1>
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c131072
// CHECK:         cluster = array<i64: 8, 1, 1>
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c8195
// CHECK:         arith.cmpi uge, %[[LENGTH]], %c4100
// CHECK:         kernel = @kernels::@[[PEELED:.*]]} :
// CHECK-LABEL: gpu.func @reduce_loops_subf_0(
// CHECK:       gpu.func @[[BLOCK]](
// CHECK-NOT:     scf.if
// CHECK:         ld.global.L2::cache_hint.v4.b32
// CHECK-NOT:     scf.if
// CHECK:         ld.global.L2::cache_hint.v4.b32
// CHECK:         scf.if
// CHECK:           ld.global.L2::cache_hint.v4.b32
// CHECK:         scf.if
// CHECK:           ld.global.L2::cache_hint.v4.b32
// CHECK-NOT:     cache_hint
// CHECK:         gpu.barrier
// CHECK-NOT:     scf.if
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64}
// CHECK-NOT:     scf.if
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64}
// CHECK:         scf.if
// CHECK:           llvm.store
// CHECK:         scf.if
// CHECK:           llvm.store
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.return
// CHECK:       gpu.func @[[PEELED]](
// CHECK:         arith.andi %{{.*}}, %c15
// CHECK-NOT:     scf.if
// CHECK:         ld.global.L2::cache_hint.v4.b32
// CHECK-NOT:     scf.if
// CHECK:         ld.global.L2::cache_hint.v4.b32
// CHECK:         scf.if
// CHECK:           ld.global.L2::cache_hint.v4.b32
// CHECK:         scf.if
// CHECK:           ld.global.L2::cache_hint.v4.b32
// CHECK-NOT:     scf.if
// CHECK:         ld.global.L2::cache_hint.b32
// CHECK-NOT:     cache_hint
// CHECK:         gpu.barrier
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?x?xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?x?xf32>) -> ()} : () -> ()

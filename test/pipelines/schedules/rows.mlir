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
// CHECK:         "hir.launch"(%c1, %c1, %c1, %c512
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

// Rows of open length have seven classes. As many lanes of a warp share a short row as it needs; a
// warp takes a longer one, and still longer ones are kept by as many warps as they need: one kernel
// serves blocks and clusters of any size, which the host chooses: not the fewest blocks that hold a
// row, where more leave fewer registers unused. The same for rows from their first
// aligned element on, with an element a thread at the edges; these are also those that nothing holds.
// The last kernel takes buffers of any strides, and any number of rows.

// Warps of which all vectors are the row's load them without asking for each; others ask. What they
// found is combined by the block, and then, where there are several, by the cluster.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         arith.cmpi ule, %[[LENGTH:.*]], %c512
// CHECK:           %[[LANES:.*]] = arith.select %{{.*}}, %c1, %
// CHECK:           %[[ROWS:.*]] = arith.divui %c128, %[[LANES]]
// CHECK:           "hir.launch"(%{{.*}}, %c1, %c1, %[[LANES]], %[[ROWS]], %c1
// CHECK:           kernel = @kernels::@reduce_loops_subf_0}
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c1024
// CHECK:           %[[BLOCKS:.*]] = arith.ceildivui %{{.*}}, %c4
// CHECK:           "hir.launch"(%[[BLOCKS]], %c1, %c1, %c128, %c1, %c1
// CHECK:           kernel = @kernels::@[[WARP:.*]]} :
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c163840
// CHECK:           arith.cmpi ule, %[[LENGTH]], %c20480
// CHECK:             %[[WARPS:.*]] = arith.ceildivui %[[LENGTH]], %c1280
// CHECK:             %[[SOME:.*]] = arith.maxui
// CHECK:             %[[THREADS:.*]] = arith.muli %[[SOME]], %c32
// CHECK:             "hir.launch"(%{{.*}}, %c1, %c1, %[[THREADS]], %c1, %c1
// CHECK:             kernel = @kernels::@[[BLOCK:.*]]} :
// CHECK:           %[[UP_TO_24:.*]] = arith.cmpi ule, %[[LENGTH]], %c30720
// CHECK:           %[[MORE:.*]] = arith.select %[[UP_TO_24]], %c3, %
// CHECK:           %[[UP_TO_20:.*]] = arith.cmpi ule, %[[LENGTH]], %c25600
// CHECK:           %[[BEST:.*]] = arith.select %[[UP_TO_20]], %c2, %[[MORE]]
// CHECK:           arith.cmpi eq, %[[BEST]], %c2
// CHECK:             cluster = array<i64: 2, 1, 1>, kernel = @kernels::@[[BLOCK]]}
// CHECK:           arith.cmpi eq, %[[BEST]], %c3
// CHECK:             cluster = array<i64: 3, 1, 1>, kernel = @kernels::@[[BLOCK]]}
// CHECK:             cluster = array<i64: 8, 1, 1>, kernel = @kernels::@[[BLOCK]]}
// CHECK:           kernel = @kernels::@reduce_loops_subf_3}
// CHECK:         arith.cmpi ule, %[[LENGTH]], %c163843
// CHECK:           arith.cmpi ule, %[[LENGTH]], %c20483
// CHECK:             kernel = @kernels::@[[PEELED:.*]]} :
// CHECK:             cluster = array<i64: 2, 1, 1>, kernel = @kernels::@[[PEELED]]}
// CHECK:             cluster = array<i64: 3, 1, 1>, kernel = @kernels::@[[PEELED]]}
// CHECK:             cluster = array<i64: 8, 1, 1>, kernel = @kernels::@[[PEELED]]}
// CHECK:           kernel = @kernels::@reduce_loops_subf_5}
// CHECK:           %[[WIDE:.*]] = arith.minui %{{.*}}, %c2147483647
// CHECK:           %[[TALL:.*]] = arith.ceildivui
// CHECK:           "hir.launch"(%[[WIDE]], %[[TALL]], %c1
// CHECK:           kernel = @kernels::@reduce_loops_subf_6}
// CHECK-NOT:     "hir.launch"
// CHECK-LABEL: gpu.func @reduce_loops_subf_0(
// CHECK-SAME:    nvvm.maxntid = array<i32: 128, 1, 1>
// CHECK-DAG:     gpu.block_dim y
// CHECK-DAG:     gpu.block_dim x
// CHECK:         ld.global.L2::cache_hint.v4.b32
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.while
// CHECK:           gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
// CHECK:       gpu.func @[[WARP]](
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 2 : i32
// CHECK-COUNT-8: ld.global.L2::cache_hint.v4.b32
// CHECK-NOT:     gpu.barrier
// CHECK:       gpu.func @[[BLOCK]](
// CHECK-NOT:     nvvm.cluster_dim
// CHECK-SAME:    nvvm.maxntid = array<i32: 512, 1, 1>, nvvm.minctasm = 2 : i32
// CHECK:         gpu.cluster_dim_blocks x
// CHECK:         nvvm.cluster.arrive.relaxed
// CHECK:         nvvm.cluster.arrive {aligned}
// CHECK:         %[[FULL:.*]] = arith.cmpi sge, %{{.*}}, %c320_i32
// CHECK:         scf.if %[[FULL]]
// CHECK-NOT:       scf.if
// CHECK-COUNT-10:  ld.global.L2::cache_hint.v4.b32
// CHECK:         } else {
// CHECK-COUNT-10:  ld.global.L2::cache_hint.v4.b32
// CHECK-NOT:     cache_hint
// CHECK:         gpu.barrier
// CHECK:         scf.if
// CHECK:           nvvm.cluster.wait
// CHECK:           nvvm.mapa
// CHECK:         scf.if %[[FULL]] {
// CHECK-NOT:       scf.if
// CHECK-COUNT-10:  llvm.store {{.*}} {alignment = 16 : i64}
// CHECK:         } else {
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64}
// CHECK:       gpu.func @[[PEELED]](
// CHECK:         arith.andi %{{.*}}, %c15
// CHECK:         ld.global.L2::cache_hint.b32
// CHECK-COUNT-20: ld.global.L2::cache_hint.v4.b32
// CHECK-NOT:     cache_hint
// CHECK:         gpu.barrier
// CHECK:       gpu.func @reduce_loops_subf_6(
// CHECK:         gpu.block_id y
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

// -----

// Where nothing is written along rows, rows that are neither short nor few are read in batches, aligned
// or not by one kernel; few long ones are split.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         arith.cmpi ule, %[[LENGTH:.*]], %c1024
// CHECK:         kernel = @kernels::@reduce_loops_0}
// CHECK:         kernel = @kernels::@reduce_loops_1}
// CHECK:         arith.cmpi uge, %[[LENGTH]], %c65536
// CHECK:         kernel = @kernels::@reduce_loops_part_2}
// CHECK:         kernel = @kernels::@reduce_loops_parts_3, overlaps}
// CHECK:         kernel = @kernels::@reduce_loops_4}
// CHECK:         kernel = @kernels::@reduce_loops_5}
// CHECK-NOT:     "hir.launch"
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// Of a known length one kernel takes packed rows, and another those of any strides, which it keeps too.

// CHECK-LABEL: "hir.launcher"()
// CHECK-COUNT-2: "hir.launch"
// CHECK-NOT:     "hir.launch"
// CHECK-LABEL: gpu.func @reduce_loops_subf_0(
// CHECK-COUNT-2: ld.global.L2::cache_hint.v4.b32
// CHECK-LABEL: gpu.func @reduce_loops_subf_1(
// CHECK:         gpu.block_id y
// CHECK-COUNT-32: ld.global.L2::cache_hint.b32
// CHECK-NOT:     cache_hint
// CHECK:         gpu.shuffle
"hir.program"() ({
^bb0(%x: memref<?x1024xf32, strided<[?, ?], offset: ?>>, %y: memref<?x1024xf32, strided<[?, ?], offset: ?>>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x1024xf32, strided<[?, ?], offset: ?>>) outs(%y : memref<?x1024xf32, strided<[?, ?], offset: ?>>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<?x1024xf32, strided<[?, ?], offset: ?>>, memref<?x1024xf32, strided<[?, ?], offset: ?>>) -> ()} : () -> ()

// -----

// A block that reads an aligned row in batches finds out by going through them how many there are, and
// counts places with 32 bits. Longer rows are read element by element.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         arith.cmpi ule, %{{.*}}, %c2147483647
// CHECK-LABEL: gpu.func @find_loops_4(
// CHECK-SAME:    kernel = "streamed"{{.*}}peeled = true
// CHECK-NOT:     arith.divui %{{.*}}, %{{[0-9]+}}
// CHECK:         %[[BATCHES:.*]]:3 = scf.for {{.*}} -> (index, bf16, i32) {
// CHECK:         arith.cmpi ult, %[[BATCHES]]#0
// CHECK:         gpu.shuffle xor
// CHECK-LABEL: gpu.func @find_loops_5(
// CHECK-SAME:    kernel = "streamed"{{.*}}tall = true
// CHECK:         scf.for {{.*}} -> (bf16, i64) {
"hir.program"() ({
^bb0(%x: memref<?x?xbf16>, %y: memref<?xi64>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xbf16>) outs(%y : memref<?xi64>) {
  ^bb0(%a: bf16, %o: i64):
    %most, %place = "hir.find_loops"(%a) {kind = "maximumf", loops = array<i64: 1>} : (bf16) -> (bf16, i64)
    linalg.yield %place : i64
  }
}) {sym_name = "main", function_type = (memref<?x?xbf16>, memref<?xi64>) -> ()} : () -> ()

// -----

// Shorter rows are split if they are few and each element is much work, in batches of a vector each.

// CHECK-LABEL: "hir.launcher"()
// CHECK-DAG:     %[[SHORT:.*]] = arith.constant 14563 : index
// CHECK-DAG:     %[[LONG:.*]] = arith.constant 65536 : index
// CHECK-DAG:     %[[FEW:.*]] = arith.constant 33 : index
// CHECK:         %[[ARE_FEW:.*]] = arith.cmpi ule, %[[COUNT:.*]], %[[FEW]]
// CHECK:         %[[LEAST:.*]] = arith.select %[[ARE_FEW]], %[[SHORT]], %[[LONG]]
// CHECK:         arith.cmpi uge, %{{.*}}, %[[LEAST]]
// CHECK:         kernel = @kernels::@exp_log1p_reduce_loops_part_
// CHECK-LABEL: gpu.func @exp_log1p_reduce_loops_part_
// CHECK-SAME:    kernel = "split"{{.*}}threads = 512 : i64, vectors = 1 : i64, width = 4
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %l = math.log1p %e : f32
    %sum = "hir.reduce_loops"(%l) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// As many rows of so many elements are split, not one more row or element less. What is computed after
// the reduction is no work of an element.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         kernel = @kernels::@exp_log1p_reduce_loops_part_0
// CHECK-LABEL: "hir.launcher"()
// CHECK-NOT:     _part
// CHECK-LABEL: "hir.launcher"()
// CHECK-NOT:     _part
// CHECK-LABEL: "hir.launcher"()
// CHECK-NOT:     _part
// CHECK-LABEL: gpu.module
"hir.program"() ({
^bb0(%x: memref<33x14563xf32>, %y: memref<33xf32>, %m: memref<34x14563xf32>, %n: memref<34xf32>,
     %u: memref<33x14562xf32>, %v: memref<33xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<33x14563xf32>) outs(%y : memref<33xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %l = math.log1p %e : f32
    %sum = "hir.reduce_loops"(%l) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%m : memref<34x14563xf32>) outs(%n : memref<34xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %l = math.log1p %e : f32
    %sum = "hir.reduce_loops"(%l) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%u : memref<33x14562xf32>) outs(%v : memref<33xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %l = math.log1p %e : f32
    %sum = "hir.reduce_loops"(%l) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<33x14563xf32>) outs(%y : memref<33xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %e = math.exp %sum : f32
    %l = math.log1p %e : f32
    linalg.yield %l : f32
  }
}) {sym_name = "main", function_type = (memref<33x14563xf32>, memref<33xf32>, memref<34x14563xf32>, memref<34xf32>, memref<33x14562xf32>, memref<33xf32>) -> ()} : () -> ()

// -----

// Rows of which each sector would be written by several instructions pass through shared memory: not
// few rows, those that begin with sectors, those of a vector each, or of which lanes take long pieces.

// CHECK:         gpu.func @reduce_loops_subf_0({{.*}}kernel = "kept"{{.*}}layout = "packed"{{.*}}staged = true
// CHECK:         gpu.func @reduce_loops_subf_2({{.*}}kernel = "kept"{{.*}}layout = "packed"{{.*}}staged = false
// CHECK:         gpu.func @reduce_loops_subf_4({{.*}}kernel = "kept"{{.*}}layout = "packed"{{.*}}staged = false
// CHECK:         gpu.func @reduce_loops_subf_6({{.*}}kernel = "kept"{{.*}}layout = "packed"{{.*}}staged = false
// CHECK:         gpu.func @reduce_loops_subf_8({{.*}}kernel = "kept"{{.*}}layout = "packed"{{.*}}staged = false
"hir.program"() ({
^bb0(%x0: memref<80000x14xf32>, %y0: memref<80000x14xf32>, %x1: memref<4000x14xf32>, %y1: memref<4000x14xf32>, %x2: memref<80000x16xf32>, %y2: memref<80000x16xf32>, %x3: memref<80000x4xf32>, %y3: memref<80000x4xf32>, %x4: memref<80000x225xf32>, %y4: memref<80000x225xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x0 : memref<80000x14xf32>) outs(%y0 : memref<80000x14xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x1 : memref<4000x14xf32>) outs(%y1 : memref<4000x14xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x2 : memref<80000x16xf32>) outs(%y2 : memref<80000x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x3 : memref<80000x4xf32>) outs(%y3 : memref<80000x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x4 : memref<80000x225xf32>) outs(%y4 : memref<80000x225xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<80000x14xf32>, memref<80000x14xf32>, memref<4000x14xf32>, memref<4000x14xf32>, memref<80000x16xf32>, memref<80000x16xf32>, memref<80000x4xf32>, memref<80000x4xf32>, memref<80000x225xf32>, memref<80000x225xf32>) -> ()} : () -> ()

// Where consumers work apart and much is made of each sum, a pair of results begins when the pair
// before the last has been made, unless nobody else multiplies: the block's last tile is computed
// as fast as it can be. A word of which no bit is used makes the pair wait.
//
// RUN: sed 's/APART/true/; s/MORE/arith.mulf %n, %f/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=PACED
//
// Not so where both have a tile together, or where less is made of a sum.
//
// RUN: sed 's/APART/false/; s/MORE/arith.mulf %n, %f/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=FAST
// RUN: sed 's/APART/true/; s/MORE/arith.addf %all, %all/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=FAST

// PACED:       gpu.func @{{.*}}tensormap
// PACED:         wgmma.wait_group.sync.aligned 0
// PACED:         %[[BESIDE:.*]] = arith.cmpi ult
// PACED:         scf.if %[[BESIDE]]
// PACED:           %[[LAYERS:.*]] = gpu.grid_dim z
// PACED:           %[[COUNT:.*]] = arith.index_castui %[[LAYERS]]
// PACED:           %[[ZERO:.*]] = arith.subi %[[COUNT]], %{{.*}} : i32
// PACED-NOT:       arith.andi %{{.*}}, %[[ZERO]]
// PACED:           %[[FIRST:.*]] = llvm.bitcast %{{.*}} : vector<2xbf16> to i32
// PACED-NOT:       arith.andi %{{.*}}, %[[ZERO]]
// PACED:           %[[SECOND:.*]] = llvm.bitcast %{{.*}} : vector<2xbf16> to i32
// PACED:           %[[NONE:.*]] = arith.andi %[[FIRST]], %[[ZERO]]
// PACED:           arith.xori %{{.*}}, %[[NONE]]
// PACED:           arith.xori %{{.*}}, %[[NONE]]
// PACED:           arith.andi %[[SECOND]], %[[ZERO]]
// PACED:         } else {
// PACED-NOT:       arith.xori %{{.*}}, %[[NONE]]
// PACED:       gpu.func @
// FAST:        gpu.func @{{.*}}tensormap
// FAST-NOT:      gpu.grid_dim z
// FAST:          wgmma.wait_group.sync.aligned 0
// FAST-NOT:      gpu.grid_dim z
// FAST:        gpu.func @

"hir.program"() ({
^bb0(%x: memref<4096x512xbf16>, %w: memref<2048x512xbf16>, %y: memref<4096x2048xbf16>):
  %half = arith.constant 0.5 : f32
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x512xbf16>, memref<2048x512xbf16>) outs(%y : memref<4096x2048xbf16>) attrs = {hir.tiles,
    hir.configuration = {family = "contraction", rows = 128, columns = 128, stages = 4, consumers = 2, parts = 1, apart = APART}} {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %all = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %d = arith.mulf %all, %half : f32
    %e = arith.mulf %d, %all : f32
    %f = arith.addf %e, %half : f32
    %g = arith.mulf %e, %f : f32
    %h = arith.addf %g, %half : f32
    %i = arith.mulf %f, %h : f32
    %j = arith.addf %i, %g : f32
    %k = arith.mulf %j, %h : f32
    %l = arith.addf %k, %half : f32
    %n = arith.mulf %l, %j : f32
    %v = MORE : f32
    %last = arith.truncf %v : f32 to bf16
    linalg.yield %last : bf16
  }
}) {sym_name = "product", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x512xbf16>, memref<2048x512xbf16>, memref<4096x2048xbf16>) -> ()} : () -> ()

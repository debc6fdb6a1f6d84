// Tiles that threads copy: the compiler's choice, which the kernel has with it, what may be asked
// for, and what may not.
// RUN: sed 's/ASKED/hir.tiles/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=CHOSEN
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 128, columns = 80, parts = 3}/' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=GIVEN
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 128, columns = 100}/' %s > %t.tile.mlir
// RUN: not hirc-opt %t.tile.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", stages = 2}/' %s > %t.stages.mlir
// RUN: not hirc-opt %t.stages.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 128, columns = 80, parts = 1, stages = 17}/' %s > %t.shared.mlir
// RUN: not hirc-opt %t.shared.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", resident = 99}/' %s > %t.resident.mlir
// RUN: not hirc-opt %t.resident.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", parts = 100}/' %s > %t.parts.mlir
// RUN: not hirc-opt %t.parts.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=PARTS

// 44 columns lie in a tile of 48, of which threads have 12: a tile of 64 would be a third empty.
// CHOSEN: gpu.func @{{.*}}hir.configuration = {columns = 48 : i64, family = "contraction", parts = {{[0-9]}} : i64, resident = {{[0-9]}} : i64, rows = {{128|256}} : i64, stages = 3 : i64, thread_columns = 12 : i64, thread_rows = 8 : i64}

// Fields that are left out are as in that, but for what a thread has of such a tile; a kernel that
// follows adds the parts.
// GIVEN: gpu.func @{{.*}}hir.configuration = {columns = 80 : i64, family = "contraction", parts = 3 : i64, resident = {{[0-9]}} : i64, rows = 128 : i64, stages = 3 : i64, thread_columns = 20 : i64, thread_rows = 4 : i64}, known_block_size = array<i32: 128, 1, 1>
// GIVEN: gpu.func @{{.*}}_parts_

// TILE: error: hir.configuration: a tile, and what of it a thread has, are one of 128x128 by 8x8, {{.*}}256x48 by 8x12, {{.*}}; without it the compiler chooses
// STAGES: error: hir.configuration: 'stages' are at least 3;
// RESIDENT: error: hir.configuration: 'resident' blocks have 2048 threads together, of {{64|128}} each;
// PARTS: error: hir.configuration: 'stages' fit into 232448 bytes of shared memory, a thread's results into its registers, and each of 'parts' has 128 terms;

"hir.program"() ({
^bb0(%x: memref<65536x1024xf32>, %w: memref<44x1024xf32>, %y: memref<65536x44xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<65536x1024xf32>, memref<44x1024xf32>) outs(%y : memref<65536x44xf32>)
    attrs = {ASKED} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "product", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<65536x1024xf32>, memref<44x1024xf32>, memref<65536x44xf32>) -> ()} : () -> ()

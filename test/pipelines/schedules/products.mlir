// RUN: sed 's/, ASKED//' %s > %t.chosen.mlir
// RUN: hirc %t.chosen.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - | FileCheck %s
// RUN: hirc %t.chosen.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - | FileCheck %s --check-prefix=WARPS
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 3, consumers = 1, group = 4}/' %s > %t.given.mlir
// RUN: hirc %t.given.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - | FileCheck %s --check-prefix=GIVEN
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 32, stages = 3, consumers = 1}/' %s > %t.wrong.mlir
// RUN: not hirc %t.wrong.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, parts = 8}/' %s > %t.parts.mlir
// RUN: hirc %t.parts.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - | FileCheck %s --check-prefix=PARTS
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, parts = 9}/' %s > %t.many.mlir
// RUN: not hirc %t.many.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 192, columns = 64, stages = 3, consumers = 3, resident = 2}/' %s > %t.registers.mlir
// RUN: not hirc %t.registers.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 192, columns = 256, stages = 2, consumers = 3, resident = 1}/' %s > %t.sums.mlir
// RUN: not hirc %t.sums.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=SUMS
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, depth = 3}/' %s > %t.less.mlir
// RUN: not hirc %t.less.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64}/' %s > %t.shape.mlir
// RUN: hirc %t.shape.mlir --offload-arch=sm_80 --stop-after=schedules --emit=shared -o - | FileCheck %s --check-prefix=SHAPE
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", thread_rows = 8, consumers = 2}/' %s > %t.mixed.mlir
// RUN: not hirc %t.mixed.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=MIXED
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 128, stages = 4, consumers = 1, down = 2}/' %s > %t.down.mlir
// RUN: hirc %t.down.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - | FileCheck %s --check-prefix=DOWN
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 128, columns = 128, stages = 4, consumers = 2, resident = 1, down = 2, across = 2, apart = false}/' %s > %t.around.mlir
// RUN: hirc %t.around.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - | FileCheck %s --check-prefix=AROUND
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, parts = 2, across = 2}/' %s > %t.both.mlir
// RUN: not hirc %t.both.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, across = 9}/' %s > %t.nine.mlir
// RUN: not hirc %t.nine.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=NINE
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, down = 2}/' %s > %t.narrow.mlir
// RUN: not hirc %t.narrow.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 128, columns = 256, stages = 3, consumers = 2, apart = true}/' %s > %t.wide.mlir
// RUN: not hirc %t.wide.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 128, columns = 128, stages = 4, consumers = 1, apart = true}/' %s > %t.alone.mlir
// RUN: not hirc %t.alone.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", companions = true}/' %s > %t.companions.mlir
// RUN: not hirc %t.companions.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/, ASKED//; s/memref<4096x4096xf32>/memref<64x4096xf32>/g; s/\(%x: \|%w : \|= (\)memref<4096/\1memref<64/' %s > %t.few.mlir
// RUN: hirc %t.few.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - | FileCheck %s --check-prefix=FEW
// RUN: sed 's/memref<64x/memref<20x/g' %t.few.mlir > %t.fewer.mlir
// RUN: hirc %t.fewer.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - | FileCheck %s --check-prefix=FEWER

// A large product is one of warpgroups where the chip has them, with a kernel for operands that the
// copy engine cannot take; the kernel says what was decided, and an operation may ask for it.

// CHECK:     gpu.func @{{.*}}tensormap{{.*}}hir.configuration = {{{.*}}parts = 1 : i64{{.*}}rows = 128{{.*}}}
// CHECK:       nvvm.mbarrier.init
// CHECK:       nvvm.wgmma.mma_async
// CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT:   nvvm.cluster
// CHECK:     gpu.func @
// CHECK-NOT:   nvvm.wgmma
// CHECK:       nvvm.mma.sync

// WARPS-NOT: nvvm.wgmma
// WARPS:     nvvm.mma.sync

// GIVEN: hir.configuration = {across = 1 : i64, apart = false, columns = 64 : i64, companions = false, consumers = 1 : i64, down = 1 : i64, family = "contraction", group = 4 : i64, parts = 1 : i64, resident = 1 : i64, rows = 64 : i64, stages = 3 : i64}

// WRONG: error: hir.configuration: 'rows' and 'columns' that lie together are multiples of 64; without it the compiler chooses
// PARTS: gpu.func @{{.*}}parts = 8 : i64
// PARTS:   nvvm.wgmma.mma_async
// PARTS:   nvvm.cluster.arrive
// PARTS:   nvvm.mapa
// PARTS:   nvvm.cluster.arrive
// MANY: error: hir.configuration: 'parts' are 8 at most, the blocks of a cluster
// REGISTERS: error: hir.configuration: 'resident' is 1 where threads have the registers of a whole multiprocessor
// WIDE: error: hir.configuration: 'apart' is for two 'consumers' that sum all terms, and up to 24576 results each
// NONE: error: hir.configuration: 'companions' are operands with an element for each result, in rows of 16 bytes
// SUMS: error: hir.configuration: a thread has registers for 192 'columns' of so many 'rows'

// Two blocks of a cluster have tiles below one another. Each copies its own 64 rows, and half of the
// 128 columns, 64 terms of 64, to both; the warps of both say what they have read. All wait before
// the first copy. In the end the thread that copies waits until all has been read, of each stage.
// DOWN:      cluster = array<i64: 2, 1, 1>
// DOWN:      gpu.func @{{.*}}memref<64x64xbf16, 3>{{.*}}memref<64x64xbf16, 3>{{.*}}down = 2 : i64
// DOWN:        nvvm.mbarrier.init %{{.*}}, %c1_i32
// DOWN:        nvvm.mbarrier.init %{{.*}}, %c8_i32
// DOWN:        nvvm.cluster.arrive.relaxed
// DOWN-NEXT:   nvvm.cluster.wait
// DOWN:        nvvm.mapa
// DOWN:        nvvm.wgmma.mma_async
// DOWN:        nvvm.mbarrier.arrive %{{.*}} {relaxed = true, scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
// DOWN:        nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[{{.*}}] : !llvm.ptr<7>
// DOWN:        %[[MASK:.*]] = arith.trunci %{{.*}} : i32 to i16
// DOWN:        nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %[[MASK]]
// DOWN-NOT:    nvvm.cp.async.bulk
// DOWN:        %[[FOUR:.*]] = arith.constant 4 : i32
// DOWN:        scf.for %{{.*}} = %{{.*}} to %[[FOUR]] step
// DOWN:          nvvm.mbarrier.try_wait.parity
// DOWN-NOT:    nvvm.cluster

// Of four, two read each part: three times eight warps read what one copies.
// AROUND:      cluster = array<i64: 4, 1, 1>
// AROUND:      gpu.func @{{.*}}memref<64x64xbf16, 3>{{.*}}memref<64x64xbf16, 3>{{.*}}across = 2 : i64
// AROUND:        nvvm.mbarrier.init %{{.*}}, %c24_i32
// AROUND:        nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
// AROUND:        nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
// AROUND-NOT:    nvvm.cp.async.bulk
// AROUND:        nvvm.mbarrier.try_wait.parity

// BOTH: error: hir.configuration: 'down' by 'across' are 8 at most, the blocks of a cluster, and 1 with 'parts'
// NINE: error: hir.configuration: 'down' by 'across' are 8 at most, the blocks of a cluster, and 1 with 'parts'
// NARROW: error: hir.configuration: blocks that share 'rows' or 'columns' copy multiples of 64 of them each
// Of few rows tiles do not fill the chip: the compiler divides the sums. Of tiles that are mostly
// empty it does not.
// FEW:       gpu.func @{{.*}}parts = {{[2-8]}} : i64
// FEW:         nvvm.cluster.arrive
// FEWER:     gpu.func @{{.*}}parts = 1 : i64
// FEWER-NOT: nvvm.cluster
// Of warps, a thread has 4x8 results of such a tile; of f32 it would have 8x4.
// SHAPE: hir.configuration = {columns = 64 : i64, family = "contraction", parts = {{[0-9]+}} : i64, resident = 4 : i64, rows = 64 : i64, stages = 3 : i64, thread_columns = 8 : i64, thread_rows = 4 : i64}
// MIXED: error: hir.configuration: no kernel of 'contraction' has all of consumers, thread_rows; one has rows, columns, stages, consumers, group, resident, parts, down, across, companions, apart, or rows, columns, thread_rows, thread_columns, stages, resident, parts;
// LESS: error: hir.configuration: 'contraction' has no 'depth', but rows, columns, stages, consumers, group, resident, parts, down, across, companions, apart, or rows, columns, thread_rows, thread_columns, stages, resident, parts;

"hir.program"() ({
^bb0(%x: memref<4096x4096xbf16>, %w: memref<4096x4096xbf16>, %y: memref<4096x4096xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x4096xbf16>, memref<4096x4096xbf16>) outs(%y : memref<4096x4096xf32>)
    attrs = {hir.tiles, ASKED} {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "product", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x4096xbf16>, memref<4096x4096xbf16>, memref<4096x4096xf32>) -> ()} : () -> ()

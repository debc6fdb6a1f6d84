// A convolution of an image whose pixels lie in chunks of 16 bytes of channels: the copy engine
// brings the part of the image that a tile of results reads, once, as it lies, and warpgroups
// multiply it at each place of the window.
//
// RUN: sed 's/ASKED//; s/CHUNK/8/g; s/PAD/1/' %s > %t.mlir
// RUN: hirc-opt %t.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,PATCHES
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 3, consumers = 3, patches = 2, resident = 1, keeps = true}/; s/CHUNK/8/g; s/PAD/1/' %s > %t.kept.mlir
// RUN: hirc-opt %t.kept.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,KEPT
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 128, columns = 64, stages = 2, consumers = 2, patches = 2, resident = 1, keeps = false}/; s/CHUNK/8/g; s/PAD/1/' %s > %t.ring.mlir
// RUN: hirc-opt %t.ring.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,RING
//
// Where a pixel's chunk has another number of channels, or what is read beyond an edge is no zero of
// the image's own edge, it is no patch.
//
// RUN: sed 's/ASKED//; s/CHUNK/16/g; s/PAD/1/' %s > %t.wide.mlir
// RUN: hirc-opt %t.wide.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=NONE
// RUN: sed 's/ASKED//; s/CHUNK/8/g; s/PAD/2/' %s > %t.shifted.mlir
// RUN: hirc-opt %t.shifted.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=NONE
// NONE-NOT: patches =
// NONE:     gpu.func
// NONE-NOT: patches =

// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", stages = 2, keeps = true}/; s/CHUNK/8/g; s/PAD/1/' %s > %t.few.mlir
// RUN: not hirc-opt %t.few.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: hir.configuration: 'stages' are the 3 steps of a tile where a block 'keeps' them, and 'columns' all there are; without it the compiler chooses
//
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 96, keeps = false, stages = 3}/; s/CHUNK/8/g; s/PAD/1/' %s > %t.rows.mlir
// RUN: not hirc-opt %t.rows.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: hir.configuration: 'rows' are 64 for each of 'consumers' that have a tile, or a multiple up to 256
//
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 3, consumers = 3, resident = 6, keeps = true}/; s/CHUNK/8/g; s/PAD/1/' %s > %t.resident.mlir
// RUN: not hirc-opt %t.resident.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RESIDENT: error: hir.configuration: 'resident' blocks have
//
// RUN: sed 's/ASKED/hir.configuration = {family = "contraction", parts = 2, keeps = true}/; s/CHUNK/8/g; s/PAD/1/' %s > %t.parts.mlir
// RUN: not hirc-opt %t.parts.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: error: hir.configuration: no kernel of 'contraction' has all of keeps, parts;

// ALL-LABEL: hir.program
// The image's rows are pixels with their chunks; the weights' those of all terms.
// ALL:       memref.reinterpret_cast %{{.*}} sizes: [%c8{{[_0-9]*}}, %c2{{[_0-9]*}}, %c112{{[_0-9]*}}, %c896{{[_0-9]*}}]
// ALL:       nvgpu.tma.create.descriptor {{.*}}swizzle = none
// ALL:       memref.reinterpret_cast %{{.*}} sizes: [%c64{{[_0-9]*}}, %c144{{[_0-9]*}}]
// ALL:       nvgpu.tma.create.descriptor {{.*}}swizzle = swizzle_128b
// PATCHES:   gpu.func @{{.*}}patches = 2 : i64
// KEPT:      gpu.func @{{.*}}consumers = 3 : i64{{.*}}keeps = true{{.*}}patches = 2 : i64
// RING:      gpu.func @{{.*}}consumers = 2 : i64{{.*}}keeps = false{{.*}}stages = 2 : i64
// All nine products of two places, none of zeros alone, for 64 rows.
// KEPT-COUNT-9: nvvm.wgmma.mma_async
// KEPT-NOT:  nvvm.wgmma.mma_async
// ALL:       nvvm.cp.async.bulk.tensor{{.*}} box[%{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}]
// ALL:       return
"hir.program"() ({
^bb0(%x: memref<8x2x112x112xCHUNKxbf16>, %k: memref<64x2x3x3xCHUNKxbf16>, %y: memref<8x64x112x112xf32>):
  %c1 = arith.constant PAD : index
  %one = arith.constant 1 : index
  %c112 = arith.constant 112 : index
  %zero = arith.constant 0.0 : bf16
  linalg.generic {
    indexing_maps = [affine_map<(n, f, h, w, g, i, j, c) -> (f, g, i, j, c)>, affine_map<(n, f, h, w, g, i, j, c) -> (n, f, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]
  } ins(%k : memref<64x2x3x3xCHUNKxbf16>) outs(%y : memref<8x64x112x112xf32>) attrs = {ASKED} {
  ^bb0(%a: bf16, %b: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %g = linalg.index 4 : index
    %i = linalg.index 5 : index
    %j = linalg.index 6 : index
    %c = linalg.index 7 : index
    %0 = arith.addi %h, %i : index
    %1 = arith.subi %0, %one : index
    %2 = arith.addi %w, %j : index
    %3 = arith.subi %2, %one : index
    %edge = arith.subi %2, %c1 : index
    %4 = arith.cmpi ult, %1, %c112 : index
    %5 = arith.cmpi ult, %edge, %c112 : index
    %6 = arith.andi %4, %5 : i1
    %7 = scf.if %6 -> (bf16) {
      %e = memref.load %x[%n, %g, %1, %3, %c] : memref<8x2x112x112xCHUNKxbf16>
      scf.yield %e : bf16
    } else {
      scf.yield %zero : bf16
    }
    %wide = arith.extf %7 : bf16 to f32
    %weight = arith.extf %a : bf16 to f32
    %8 = arith.mulf %wide, %weight : f32
    %9 = "hir.reduce_loops"(%8) {kind = "addf", loops = array<i64: 4, 5, 6, 7>} : (f32) -> f32
    linalg.yield %9 : f32
  }
}) {function_type = (memref<8x2x112x112xCHUNKxbf16>, memref<64x2x3x3xCHUNKxbf16>, memref<8x64x112x112xf32>) -> (), inputs = [{name = "x"}, {name = "k"}, {name = "y"}], sym_name = "main"} : () -> ()

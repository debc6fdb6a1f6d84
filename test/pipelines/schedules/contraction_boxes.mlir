// A convolution of which channels lie together: the copy engine brings boxes of the image, one for
// each place of the window, and zeros beyond the image's edges.
//
// RUN: sed 's/STEP/1/g; s/SIZE/28/g; s/ASKED//' %s > %t.mlir
// RUN: hirc-opt %t.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,BOXES
//
// With a step of 2 or 3 a copy takes every second or third place, whether the step divides the image
// or not.
//
// RUN: sed 's/STEP/2/g; s/SIZE/14/g; s/ASKED//' %s > %t.two.mlir
// RUN: hirc-opt %t.two.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,TWO
// RUN: sed 's/STEP/3/g; s/SIZE/10/g; s/ASKED//' %s > %t.three.mlir
// RUN: hirc-opt %t.three.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,THREE
//
// A copy of a tile's rows would pass over too many places with a step of 7: the rows and columns that
// are skipped are dims of their own; columns that lie beside one another are more channels.
//
// RUN: sed 's/STEP/7/g; s/SIZE/4/g; s/ASKED//' %s > %t.seven.mlir
// RUN: hirc-opt %t.seven.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,SEVEN
//
// A step of 9 does not divide the image, and no copy takes it: threads copy what a tile reads.
//
// RUN: sed 's/STEP/9/g; s/SIZE/4/g; s/ASKED//' %s > %t.nine_apart.mlir
// RUN: hirc-opt %t.nine_apart.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,THREADS

// A configuration may divide the sums among the blocks of a cluster, as many as it may have.
//
// RUN: sed 's/STEP/1/g; s/SIZE/28/g; s/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, parts = 3}/' %s > %t.parts.mlir
// RUN: hirc-opt %t.parts.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=PARTS
// PARTS: gpu.func @{{.*}}parts = 3 : i64
// PARTS:   nvvm.cp.async.bulk.tensor
// PARTS:   nvvm.cluster.arrive
// PARTS:   nvvm.mapa
// PARTS:   nvvm.cluster.arrive
//
// RUN: sed 's/STEP/1/g; s/SIZE/28/g; s/ASKED/hir.configuration = {family = "contraction", consumers = 1, parts = 9}/' %s > %t.nine.mlir
// RUN: not hirc-opt %t.nine.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: hir.configuration: 'parts' are 8 at most, the blocks of a cluster; without it the compiler chooses

// Blocks with boxes below one another share the weights, but none shares a box of the image; all have
// as many boxes.
//
// RUN: sed 's/STEP/1/g; s/SIZE/28/g; s/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, parts = 1, resident = 1, down = 2}/' %s > %t.down.mlir
// RUN: hirc-opt %t.down.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=DOWN
// DOWN: gpu.func @{{.*}}down = 2 : i64
// DOWN:   nvvm.cp.async.bulk.tensor{{.*}} box[{{.*}}] : !llvm.ptr<7>
// DOWN:   nvvm.cp.async.bulk.tensor{{.*}}multicast_mask
// DOWN:   nvvm.mbarrier.try_wait.parity
//
// RUN: sed 's/STEP/1/g; s/SIZE/28/g; s/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, parts = 1, resident = 1, across = 2}/' %s > %t.across.mlir
// RUN: not hirc-opt %t.across.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=ACROSS
// ACROSS: error: hir.configuration: 'across' is 1 where rows are a box of an image, which is copied as a whole
//
// RUN: sed 's/STEP/2/g; s/SIZE/14/g; s/ASKED/hir.configuration = {family = "contraction", rows = 64, columns = 64, stages = 4, consumers = 1, parts = 1, resident = 1, down = 8}/' %s > %t.eight.mlir
// RUN: not hirc-opt %t.eight.mlir -p 'hir-schedule-kernels{chips=sm_90a}' 2>&1 | FileCheck %s --check-prefix=EIGHT
// EIGHT: error: hir.configuration: 'down' divides the {{[0-9]*}} boxes of so many 'rows'

// ALL-LABEL:   hir.program
// BOXES:       memref.reinterpret_cast %{{.*}} sizes: [%c8{{[_0-9]*}}, %c28{{[_0-9]*}}, %c28{{[_0-9]*}}, %c128{{[_0-9]*}}]
// BOXES:       nvgpu.tma.create.descriptor
// BOXES:       memref.reinterpret_cast %{{.*}} sizes: [%c3{{[_0-9]*}}, %c3{{[_0-9]*}}, %c256{{[_0-9]*}}, %c128{{[_0-9]*}}]
// BOXES:       nvgpu.tma.create.descriptor
// TWO:         memref.reinterpret_cast %{{.*}} sizes: [%c8{{[_0-9]*}}, %c28{{[_0-9]*}}, %c28{{[_0-9]*}}, %c128{{[_0-9]*}}]
// TWO:         nvgpu.tma.create.descriptor {{.*}}hir.steps = array<i64: 1, 2, 2, 1>
// THREE:       nvgpu.tma.create.descriptor {{.*}}hir.steps = array<i64: 1, 3, 3, 1>
// SEVEN:       memref.reinterpret_cast %{{.*}} sizes: [%c7{{[_0-9]*}}, %c8{{[_0-9]*}}, %c4{{[_0-9]*}}, %c4{{[_0-9]*}}, %c896{{[_0-9]*}}]
// SEVEN-NOT:   hir.steps
// SEVEN:       nvgpu.tma.create.descriptor
// THREADS-NOT: nvgpu.tma.create.descriptor
// THREADS:     nvvm.cp.async.shared.global
// ALL:         nvvm.wgmma.mma_async
// BOXES:       nvvm.cp.async.bulk.tensor
"hir.program"() ({
^bb0(%x: memref<8x28x28x128xbf16>, %k: memref<256x3x3x128xbf16>, %y: memref<8xSIZExSIZEx256xf32>):
  %c1 = arith.constant 1 : index
  %step = arith.constant STEP : index
  %c28 = arith.constant 28 : index
  %zero = arith.constant 0.0 : bf16
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, f, i, j, c) -> (f, i, j, c)>, affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%k : memref<256x3x3x128xbf16>) outs(%y : memref<8xSIZExSIZEx256xf32>) attrs = {ASKED} {
  ^bb0(%a: bf16, %b: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %i = linalg.index 4 : index
    %j = linalg.index 5 : index
    %c = linalg.index 6 : index
    %down = arith.muli %h, %step : index
    %right = arith.muli %w, %step : index
    %0 = arith.addi %down, %i : index
    %1 = arith.subi %0, %c1 : index
    %2 = arith.addi %right, %j : index
    %3 = arith.subi %2, %c1 : index
    %4 = arith.cmpi ult, %1, %c28 : index
    %5 = arith.cmpi ult, %3, %c28 : index
    %6 = arith.andi %4, %5 : i1
    %7 = scf.if %6 -> (bf16) {
      %e = memref.load %x[%n, %1, %3, %c] : memref<8x28x28x128xbf16>
      scf.yield %e : bf16
    } else {
      scf.yield %zero : bf16
    }
    %wide = arith.extf %7 : bf16 to f32
    %weight = arith.extf %a : bf16 to f32
    %8 = arith.mulf %wide, %weight : f32
    %9 = "hir.reduce_loops"(%8) {kind = "addf", loops = array<i64: 4, 5, 6>} : (f32) -> f32
    linalg.yield %9 : f32
  }
}) {function_type = (memref<8x28x28x128xbf16>, memref<256x3x3x128xbf16>, memref<8xSIZExSIZEx256xf32>) -> (), inputs = [{name = "x"}, {name = "k"}, {name = "y"}], sym_name = "main"} : () -> ()

// Images without edges: what a window reads is known by how far apart places lie in memory. Results in
// steps lie several times as far apart as the places of the window, dilated ones as far or nearer.
//
// RUN: sed 's/BY/2/g; s/APART/1/g; s/SIZE/13/g' %s > %t.two.mlir
// RUN: hirc-opt %t.two.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,TWO
// RUN: sed 's/BY/3/g; s/APART/2/g; s/SIZE/8/g' %s > %t.three.mlir
// RUN: hirc-opt %t.three.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,THREE
//
// A copy of a tile's rows would pass over too many places with a step of 5: a tile has one row of the
// image's results.
//
// RUN: sed 's/BY/5/g; s/APART/1/g; s/SIZE/5/g' %s > %t.five.mlir
// RUN: hirc-opt %t.five.mlir -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefixes=ALL,FIVE

// ALL-LABEL: hir.program
// The image ends at the last place that a window reads: 27 rows and columns of 28.
// TWO:         memref.reinterpret_cast %{{.*}} sizes: [%c8{{[_0-9]*}}, %c27{{[_0-9]*}}, %c27{{[_0-9]*}}, %c128{{[_0-9]*}}]
// TWO:         nvgpu.tma.create.descriptor {{.*}}hir.steps = array<i64: 1, 2, 2, 1>
// THREE:       memref.reinterpret_cast %{{.*}} sizes: [%c8{{[_0-9]*}}, %c26{{[_0-9]*}}, %c26{{[_0-9]*}}, %c128{{[_0-9]*}}]
// THREE:       nvgpu.tma.create.descriptor {{.*}}hir.steps = array<i64: 1, 3, 3, 1>
// FIVE-NOT:    hir.steps
// ALL:         nvvm.wgmma.mma_async
"hir.program"() ({
^bb0(%x: memref<8x28x28x128xbf16>, %k: memref<256x3x3x128xbf16>, %y: memref<8xSIZExSIZEx256xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, f, i, j, c) -> (n, h * BY + i * APART, w * BY + j * APART, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (f, i, j, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%x, %k : memref<8x28x28x128xbf16>, memref<256x3x3x128xbf16>) outs(%y : memref<8xSIZExSIZEx256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %image = arith.extf %a : bf16 to f32
    %weight = arith.extf %b : bf16 to f32
    %0 = arith.mulf %image, %weight : f32
    %1 = "hir.reduce_loops"(%0) {kind = "addf", loops = array<i64: 4, 5, 6>} : (f32) -> f32
    linalg.yield %1 : f32
  }
}) {function_type = (memref<8x28x28x128xbf16>, memref<256x3x3x128xbf16>, memref<8xSIZExSIZEx256xf32>) -> (), inputs = [{name = "x"}, {name = "k"}, {name = "y"}], sym_name = "main"} : () -> ()

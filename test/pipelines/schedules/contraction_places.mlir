// A product whose result has neither factor's loops in rows of memory that are whole runs, as that of
// a 1x1 convolution of 7x7 places with channels first: the copy engine brings its factors all the same.
//
// RUN: sed 's/PLACE/n, h, w, c/; s/IMAGE/32x7x7x512/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=BOXES
//
// It cannot where images have places in rows, of 98 bytes: threads copy.
//
// RUN: sed 's/PLACE/n, c, h, w/; s/IMAGE/32x512x7x7/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=THREADS
//
// BOXES:        gpu.func @
// BOXES:          nvvm.cp.async.bulk.tensor
// THREADS:      gpu.func @
// THREADS:        nvvm.cp.async.shared.global
// THREADS-NOT:  nvvm.cp.async.bulk.tensor
"hir.program"() ({
^bb0(%x: memref<IMAGExbf16>, %k: memref<512x512xbf16>, %y: memref<32x512x7x7xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, f, h, w, c) -> (PLACE)>, affine_map<(n, f, h, w, c) -> (f, c)>,
                     affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%x, %k : memref<IMAGExbf16>, memref<512x512xbf16>) outs(%y : memref<32x512x7x7xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 4>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {function_type = (memref<IMAGExbf16>, memref<512x512xbf16>, memref<32x512x7x7xf32>) -> (), inputs = [{name = "x"}, {name = "k"}, {name = "y"}], sym_name = "main"} : () -> ()

// Where tiles are too few to fill the chip and sums are long, the compiler makes these in parts, by
// the blocks of clusters: 512 channels at 7x7, and few images of them.
//
// RUN: sed 's/IMAGES/32/g; s/HIGH/7/g; s/CHANNELS/512/g; s/FEATURES/512/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=PARTS
// RUN: sed 's/IMAGES/8/g; s/HIGH/7/g; s/CHANNELS/512/g; s/FEATURES/512/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=PARTS
// RUN: sed 's/IMAGES/1/g; s/HIGH/7/g; s/CHANNELS/512/g; s/FEATURES/512/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=PARTS
//
// It does not where tiles fill the chip, where sums are short, or where most of a tile is empty; nor
// of an open number of images.
//
// RUN: sed 's/IMAGES/32/g; s/HIGH/14/g; s/CHANNELS/256/g; s/FEATURES/256/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/IMAGES/64/g; s/HIGH/14/g; s/CHANNELS/512/g; s/FEATURES/512/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/IMAGES/8/g; s/HIGH/7/g; s/CHANNELS/64/g; s/FEATURES/512/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/IMAGES/1/g; s/HIGH/7/g; s/CHANNELS/512/g; s/FEATURES/16/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/IMAGES/1/g; s/HIGH/3/g; s/CHANNELS/512/g; s/FEATURES/512/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/IMAGES/?/g; s/HIGH/7/g; s/CHANNELS/512/g; s/FEATURES/512/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WHOLE

// PARTS:     gpu.func @{{.*}}hir.configuration = {{{.*}}parts = {{[2-8]}} : i64
// PARTS:       nvvm.cluster.arrive
// WHOLE:     gpu.func @
// WHOLE-NOT: nvvm.cluster
"hir.program"() ({
^bb0(%x: memref<IMAGESxHIGHxHIGHxCHANNELSxbf16>, %k: memref<FEATURESx3x3xCHANNELSxbf16>, %y: memref<IMAGESxHIGHxHIGHxFEATURESxf32>):
  %c1 = arith.constant 1 : index
  %step = arith.constant 1 : index
  %c28 = arith.constant HIGH : index
  %zero = arith.constant 0.0 : bf16
  linalg.generic {
    indexing_maps = [affine_map<(n, h, w, f, i, j, c) -> (f, i, j, c)>, affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%k : memref<FEATURESx3x3xCHANNELSxbf16>) outs(%y : memref<IMAGESxHIGHxHIGHxFEATURESxf32>) {
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
      %e = memref.load %x[%n, %1, %3, %c] : memref<IMAGESxHIGHxHIGHxCHANNELSxbf16>
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
}) {function_type = (memref<IMAGESxHIGHxHIGHxCHANNELSxbf16>, memref<FEATURESx3x3xCHANNELSxbf16>, memref<IMAGESxHIGHxHIGHxFEATURESxf32>) -> (), inputs = [{name = "x"}, {name = "k"}, {name = "y"}], sym_name = "main"} : () -> ()

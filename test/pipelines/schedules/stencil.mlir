// A depthwise convolution in 16 bits. A thread takes eight neighbouring results in rows below one
// another, where they lie in rows of whole vectors; an element beside them at each end is loaded alone.
//
// RUN: sed 's/IMAGE/64x64/g; s/RESULT/64x64/g; s/MOST/64/g; s/PAD/1/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=WIDE
//
// It takes one in rows of odd lengths: no vector of such begins where one may.
//
// RUN: sed 's/IMAGE/64x63/g; s/RESULT/64x63/g; s/MOST/63/g; s/PAD/1/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=ODD
//
// Where rows of results end within a pair, only one of the last is stored.
//
// RUN: sed 's/IMAGE/64x64/g; s/RESULT/64x63/g; s/MOST/64/g; s/PAD/0/g' %s | hirc-opt - -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s --check-prefix=SHORT
//
// WIDE:      gpu.func @
// WIDE-DAG:    llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// WIDE-DAG:    llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// WIDE:        math.fma
// WIDE-NOT:    llvm.load
// WIDE:        llvm.store {{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
// WIDE-NOT:    llvm.store {{.*}} : bf16
// WIDE:        gpu.return
//
// ODD:       gpu.func @
// ODD-NOT:     vector<{{.}}xbf16>
// ODD:         math.fma
// ODD-NOT:     vector<{{.}}xbf16>
// ODD:         llvm.store {{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// ODD:         gpu.return
//
// SHORT:     gpu.func @
// SHORT:       llvm.load {{.*}} -> vector<2xbf16>
// SHORT:       math.fma
// SHORT:       llvm.store {{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// SHORT:       scf.if
// SHORT:         llvm.store {{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// SHORT:       gpu.return
"hir.program"() ({
^bb0(%x: memref<16x96xIMAGExbf16>, %k: memref<96x3x3xbf16>, %y: memref<16x96xRESULTxbf16>):
  %zero = arith.constant 0.0 : bf16
  %by = arith.constant PAD : index
  %most = arith.constant MOST : index
  %rows = arith.constant 64 : index
  linalg.generic {
    indexing_maps = [affine_map<(n, c, h, w, r, s) -> (c, r, s)>, affine_map<(n, c, h, w, r, s) -> (n, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%k : memref<96x3x3xbf16>) outs(%y : memref<16x96xRESULTxbf16>) {
  ^bb0(%b: bf16, %o: bf16):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %r = linalg.index 4 : index
    %s = linalg.index 5 : index
    %hr = arith.addi %h, %r : index
    %ws = arith.addi %w, %s : index
    %i = arith.subi %hr, %by : index
    %j = arith.subi %ws, %by : index
    %in = arith.cmpi ult, %i, %rows : index
    %on = arith.cmpi ult, %j, %most : index
    %is = arith.andi %in, %on : i1
    %a = scf.if %is -> (bf16) {
      %e = memref.load %x[%n, %c, %i, %j] : memref<16x96xIMAGExbf16>
      scf.yield %e : bf16
    } else {
      scf.yield %zero : bf16
    }
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %m = arith.mulf %p, %q : f32
    %t = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 4, 5>} : (f32) -> f32
    %u = arith.truncf %t : f32 to bf16
    linalg.yield %u : bf16
  }
}) {function_type = (memref<16x96xIMAGExbf16>, memref<96x3x3xbf16>, memref<16x96xRESULTxbf16>) -> (), inputs = [{name = "x"}, {name = "k"}, {name = "y"}], sym_name = "main"} : () -> ()

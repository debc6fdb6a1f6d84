// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_75}' | FileCheck %s --check-prefix=OLD

// Rows of an odd length are copied to shared memory in aligned pieces, and written in aligned
// vectors; one kernel takes them all. Tiles are small where few multiprocessors would have one of
// the largest. Chips that do not copy so move single elements.

// CHECK:     "hir.program"()
// CHECK-NOT:   hir.if
// CHECK:       "hir.launch"
// CHECK-NOT:   "hir.launch"
// CHECK:     gpu.func @copy_transposed_0({{.*}}) kernel attributes {{{.*}}row_side = 64 {{.*}}known_block_size = array<i32: 256, 1, 1>
// CHECK:       nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK:       nvvm.cp.async.wait.group 0
// CHECK-NEXT:  gpu.barrier
// CHECK:       llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
// CHECK-NOT: gpu.func

// OLD:     gpu.func @copy_transposed_0
// OLD-NOT: nvvm.cp.async
// OLD-NOT: vector<8xbf16>
// OLD:     llvm.store %{{.*}} : bf16, !llvm.ptr<1>
"hir.program"() ({
^bb0(%x: memref<509x1021xbf16>, %y: memref<1021x509xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : memref<509x1021xbf16>) outs(%y : memref<1021x509xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    linalg.yield %a : bf16
  }
}) {sym_name = "main",
    function_type = (memref<509x1021xbf16>, memref<1021x509xbf16>) -> ()} : () -> ()

// -----

// What lies as the outputs do is read in vectors too, where it is aligned when they are; single
// elements are moved where it is not.

// CHECK:     "hir.program"()
// CHECK:       %[[APART:.*]] = arith.subi
// CHECK:       %[[REST:.*]] = arith.andi %[[APART]], %c15
// CHECK:       %[[SAME:.*]] = arith.cmpi eq, %[[REST]]
// CHECK:       "hir.if"(%[[SAME]])
// CHECK:     gpu.func @addf_transposed_0({{.*}}) kernel attributes {{{.*}}known_block_size = array<i32: 512, 1, 1>
// CHECK:       nvvm.cp.async.shared.global
// CHECK:       llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// CHECK:       nvvm.cp.async.wait.group 0
// CHECK:     gpu.func @addf_transposed_1
// CHECK-NOT:   nvvm.cp.async
"hir.program"() ({
^bb0(%x: memref<1533x2045xbf16>, %w: memref<2045x1533xbf16>, %y: memref<2045x1533xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>,
                     affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %w : memref<1533x2045xbf16>, memref<2045x1533xbf16>) outs(%y : memref<2045x1533xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %s = arith.addf %a, %b : bf16
    linalg.yield %s : bf16
  }
}) {sym_name = "main",
    function_type = (memref<1533x2045xbf16>, memref<2045x1533xbf16>, memref<2045x1533xbf16>) -> ()}
    : () -> ()

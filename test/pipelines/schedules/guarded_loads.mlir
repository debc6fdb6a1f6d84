// RUN: hirc-opt %s -p 'hir-schedule-kernels,hir.program(canonicalize,cse),gpu.module(gpu.func(canonicalize,cse))' | FileCheck %s

// What is read where it lies within a row is read in pieces that are all there or all not: two
// elements, as many as are added before a row. Where addresses do not allow that, one by one.

// CHECK-LABEL: gpu.func @andi_0(
// CHECK-COUNT-2: scf.if {{.*}} -> (vector<2xf32>) {
// CHECK-NOT:     scf.if
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @andi_1(
// CHECK-COUNT-4: scf.if {{.*}} -> (f32) {
// CHECK-NOT:     scf.if
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
"hir.program"() ({
^bb0(%x: memref<1024x1020xf32>, %y: memref<1024x1024xf32>):
  %zero = arith.constant 0.0 : f32
  %rows = arith.constant 1024 : index
  %c2 = arith.constant 2 : index
  %columns = arith.constant 1020 : index
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } outs(%y : memref<1024x1024xf32>) {
  ^bb0(%d: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %place = arith.subi %j, %c2 : index
    %has_row = arith.cmpi ult, %i, %rows : index
    %has_column = arith.cmpi ult, %place, %columns : index
    %is_within = arith.andi %has_row, %has_column : i1
    %v = scf.if %is_within -> f32 {
      %e = memref.load %x[%i, %place] : memref<1024x1020xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  }
}) {sym_name = "main",
    function_type = (memref<1024x1020xf32>, memref<1024x1024xf32>) -> ()} : () -> ()

// A column may be a multiple of what is loaded together beyond the loop's index, whatever that is: as
// of channels in chunks of 8.

// CHECK-LABEL: gpu.func @copy_3(
// CHECK:         scf.if {{.*}} -> (vector<8xbf16>) {
// CHECK-NOT:     scf.if
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<700x24xbf16>, %y: memref<3x702x8xbf16>):
  %zero = arith.constant 0.0 : bf16
  %rows = arith.constant 700 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } outs(%y : memref<3x702x8xbf16>) {
  ^bb0(%d: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %first = arith.muli %i, %c8 : index
    %channel = arith.addi %first, %k : index
    %row = arith.subi %j, %c1 : index
    %has_row = arith.cmpi ult, %row, %rows : index
    %v = scf.if %has_row -> bf16 {
      %e = memref.load %x[%row, %channel] : memref<700x24xbf16>
      scf.yield %e : bf16
    } else {
      scf.yield %zero : bf16
    }
    linalg.yield %v : bf16
  }
}) {sym_name = "chunks",
    function_type = (memref<700x24xbf16>, memref<3x702x8xbf16>) -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90a},hir.launcher(canonicalize,cse),gpu.module(canonicalize,cse)' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_75},hir.launcher(canonicalize,cse),gpu.module(canonicalize,cse)' | FileCheck %s --check-prefix=OLD
// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_80},hir.launcher(canonicalize,cse),gpu.module(canonicalize,cse)' | FileCheck %s --check-prefix=KERNEL

// What is known to be more than twice the cache stays there longer than what is written: its loads
// take a policy, which is made once where the kernel begins. What all rows share takes none, and
// neither do stores. Chips that know no policies have plain loads.

// CHECK-LABEL: gpu.func @addf_0(
// CHECK:         %[[LAST:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_last.b64 $0;"
// CHECK-NOT:     createpolicy
// CHECK:         gpu.thread_id
// CHECK:         llvm.inline_asm has_side_effects "ld.global.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;", "=r,=r,=r,=r,l,l" %{{.*}}, %[[LAST]]
// CHECK:         llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT:     {{createpolicy|cache_hint}}
// CHECK:         llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>

// OLD-LABEL:   gpu.func @addf_0(
// OLD-NOT:       llvm.inline_asm
// OLD:           llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// OLD:           gpu.return
"hir.program"() ({
^bb0(%x: memref<8192x3200xf32>, %bias: memref<3200xf32>, %y: memref<8192x3200xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %bias : memref<8192x3200xf32>, memref<3200xf32>) outs(%y : memref<8192x3200xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<8192x3200xf32>, memref<3200xf32>, memref<8192x3200xf32>) -> ()} : () -> ()

// -----

// What is known to be less, if by one row, has plain loads.

// CHECK-LABEL: gpu.func @addf_0(
// CHECK-NOT:     llvm.inline_asm
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<8191x3200xf32>, %bias: memref<3200xf32>, %y: memref<8191x3200xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %bias : memref<8191x3200xf32>, memref<3200xf32>) outs(%y : memref<8191x3200xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<8191x3200xf32>, memref<3200xf32>, memref<8191x3200xf32>) -> ()} : () -> ()

// -----

// Of open sizes the host compares the bytes, of each element type for itself. From sm_90 on, whose
// policies are known as numbers, it chooses between two and passes one; before, the kernel does.

// CHECK-LABEL: "hir.launcher"()
// CHECK:         %[[WORDS:.*]] = arith.muli %{{.*}}, %c4
// CHECK:         %[[ARE_LARGE:.*]] = arith.cmpi uge, %[[WORDS]], %c104857600
// CHECK:         %[[POLICY:.*]] = arith.select %[[ARE_LARGE]], %c1508705875169116160_i64, %c1652821063244972032_i64 : i64
// CHECK:         %[[HALVES:.*]] = arith.muli %{{.*}}, %c2
// CHECK:         arith.cmpi uge, %[[HALVES]], %c104857600
// CHECK:         "hir.argument"(%[[POLICY]]) : (i64) -> ()
// CHECK:         kernel = @kernels::@addf_0
// CHECK-LABEL: gpu.func @addf_0(
// CHECK-SAME:      %{{.*}}: !llvm.ptr, %[[GIVEN:[a-z0-9]*]]: i64, %{{.*}}: !llvm.ptr, %{{.*}}: i64
// CHECK-NOT:     createpolicy
// CHECK:         cache_hint.v4.b32 {{.*}}, %[[GIVEN]] : {{.*}} -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK:         cache_hint.v2.b32 {{.*}} -> !llvm.struct<(i32, i32)>
// CHECK-LABEL: gpu.func @addf_1(
// CHECK-NOT:     llvm.inline_asm
// CHECK:         gpu.return

// KERNEL:          %[[ARE_LARGE:.*]] = arith.cmpi uge, %{{.*}}, %c83886080
// KERNEL:          %[[FLAG:.*]] = arith.extui %[[ARE_LARGE]] : i1 to i32
// KERNEL:          "hir.argument"(%[[FLAG]]) : (i32) -> ()
// KERNEL:        gpu.func @addf_0(
// KERNEL-SAME:       %{{.*}}: !llvm.ptr, %[[FLAG:[a-z0-9]*]]: i32, %{{.*}}: !llvm.ptr, %{{.*}}: i32
// KERNEL:          %[[LAST:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_last.b64 $0;"
// KERNEL:          %[[NORMAL:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_normal.b64 $0;"
// KERNEL-NOT:      createpolicy
// KERNEL:          %[[IS_LARGE:.*]] = arith.cmpi ne, %[[FLAG]], %c0_i32
// KERNEL-NEXT:     %[[POLICY:.*]] = arith.select %[[IS_LARGE]], %[[LAST]], %[[NORMAL]] : i64
// KERNEL:          gpu.thread_id
// KERNEL:          cache_hint.v4.b32 {{.*}}, %[[POLICY]] : {{.*}} -> !llvm.struct<(i32, i32, i32, i32)>
"hir.program"() ({
^bb0(%x: memref<?xf32>, %z: memref<?xbf16>, %y: memref<?xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%x, %z : memref<?xf32>, memref<?xbf16>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: bf16, %d: f32):
    %c = arith.extf %b : bf16 to f32
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<?xf32>, memref<?xbf16>, memref<?xf32>) -> ()} : () -> ()

// -----

// A sum of rows writes little, so that nothing has to make room for what it reads.

// CHECK-LABEL: gpu.func @reduce_loops_0(
// CHECK-NOT:     createpolicy
// CHECK:         llvm.load {{.*}} -> vector<4xf32>
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<65536x4096xf32>, %y: memref<65536xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<65536x4096xf32>) outs(%y : memref<65536xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<65536x4096xf32>, memref<65536xf32>) -> ()} : () -> ()

// -----

// Rows that are normalized, their single elements at the edges too; each weight is for all of them.

// CHECK-LABEL: gpu.func @reduce_loops_mulf_mulf_0(
// CHECK:         %[[LAST:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_last.b64 $0;"
// CHECK-NOT:     createpolicy
// CHECK:         cache_hint.v4.b32 {{.*}}, %[[LAST]] :
// CHECK:         cache_hint.b32 {{.*}}, %[[LAST]] :
// CHECK:         gpu.barrier
// CHECK-NOT:     cache_hint
// CHECK:         llvm.load {{.*}} : !llvm.ptr<1> -> {{.*}}f32
// CHECK-NOT:     cache_hint
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<16384x8189xf32>, %w: memref<8189xf32>, %y: memref<16384x8189xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>,
                                   affine_map<(r, c) -> (r, c)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : memref<16384x8189xf32>, memref<8189xf32>) outs(%y : memref<16384x8189xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %t = arith.mulf %a, %sum : f32
    %u = arith.mulf %t, %b : f32
    linalg.yield %u : f32
  }
}) {sym_name = "main",
    function_type = (memref<16384x8189xf32>, memref<8189xf32>, memref<16384x8189xf32>) -> ()}
    : () -> ()

// -----

// What is padded is loaded so where it is there.

// CHECK-LABEL: gpu.func @andi_0(
// CHECK:         %[[LAST:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_last.b64 $0;"
// CHECK-NOT:     {{createpolicy|cache_hint}}
// CHECK:         scf.if {{.*}} -> (vector<4xf32>) {
// CHECK-NOT:       llvm.load
// CHECK:           cache_hint.v4.b32 {{.*}}, %[[LAST]] :
// CHECK:         } else {

// OLD-LABEL:   gpu.func @andi_0(
// OLD-NOT:       llvm.inline_asm
// OLD:           scf.if {{.*}} -> (vector<4xf32>) {
// OLD:             llvm.load {{.*}} -> vector<4xf32>
"hir.program"() ({
^bb0(%x: memref<8192x8184xf32>, %y: memref<8192x8192xf32>):
  %zero = arith.constant 0.0 : f32
  %rows = arith.constant 8192 : index
  %c4 = arith.constant 4 : index
  %columns = arith.constant 8184 : index
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } outs(%y : memref<8192x8192xf32>) {
  ^bb0(%d: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %place = arith.subi %j, %c4 : index
    %has_row = arith.cmpi ult, %i, %rows : index
    %has_column = arith.cmpi ult, %place, %columns : index
    %is_within = arith.andi %has_row, %has_column : i1
    %v = scf.if %is_within -> f32 {
      %e = memref.load %x[%i, %place] : memref<8192x8184xf32>
      scf.yield %e : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  }
}) {sym_name = "main",
    function_type = (memref<8192x8184xf32>, memref<8192x8192xf32>) -> ()} : () -> ()

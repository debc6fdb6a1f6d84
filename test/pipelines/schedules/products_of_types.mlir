// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90}' | FileCheck %s --check-prefix=WARPS
// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_80}' | FileCheck %s --check-prefix=AMPERE

// f32 that may be rounded to tf32: the copy engine rounds, and warpgroups multiply 8 terms at once.
// Where it may not, or chips have none, warps do.

// CHECK:     nvgpu.tma.create.descriptor {{.*}} {hir.tf32} : memref<*xf32>
// CHECK:     gpu.func @{{.*}}memref<{{[0-9]+}}x32xf32, 3>
// CHECK:       nvvm.wgmma.mma_async {{.*}}k = 8>, D[<f32>, <one>], A[<tf32>, <one>, <row>], B[<tf32>, <one>, <col>]
// CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK:     gpu.func @
// CHECK-NOT:   nvvm.wgmma
// CHECK:       nvvm.convert.float.to.tf32
// CHECK:     // -----
// WARPS-NOT: nvvm.wgmma
// WARPS:     nvvm.convert.float.to.tf32
// WARPS:     // -----
"hir.program"() ({
^bb0(%x: memref<4096x1024xf32>, %w: memref<4096x1024xf32>, %y: memref<4096x4096xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x1024xf32>, memref<4096x1024xf32>) outs(%y : memref<4096x4096xf32>) attrs = {hir.tiles, hir.tf32} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "linear", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x1024xf32>, memref<4096x1024xf32>, memref<4096x4096xf32>) -> ()} : () -> ()

// -----

// Of 16 bits alone warpgroups take what lies with columns side by side.

// CHECK:     gpu.func @
// CHECK-NOT: nvvm.wgmma
// CHECK:     nvvm.convert.float.to.tf32
// CHECK:     // -----
"hir.program"() ({
^bb0(%x: memref<4096x1024xf32>, %w: memref<1024x4096xf32>, %y: memref<4096x4096xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x1024xf32>, memref<1024x4096xf32>) outs(%y : memref<4096x4096xf32>) attrs = {hir.tiles, hir.tf32} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "columns", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x1024xf32>, memref<1024x4096xf32>, memref<4096x4096xf32>) -> ()} : () -> ()

// -----

// Nothing is rounded that may not be.

// CHECK:     gpu.func @
// CHECK-NOT: tf32
// CHECK:     vector.fma
// CHECK-NOT: tf32
// CHECK:     // -----
"hir.program"() ({
^bb0(%x: memref<4096x1024xf32>, %w: memref<4096x1024xf32>, %y: memref<4096x4096xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x1024xf32>, memref<4096x1024xf32>) outs(%y : memref<4096x4096xf32>) attrs = {hir.tiles} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "exact", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x1024xf32>, memref<4096x1024xf32>, memref<4096x4096xf32>) -> ()} : () -> ()

// -----

// Of 8 bits, two types of floats: sums of a step are added to those before in f32, in registers that
// the producer gives. Warps multiply them too, from sm_89 on. Where operands lie at no such addresses, they are reduced.

// CHECK:     gpu.func @{{.*}}memref<{{[0-9]+}}x128xf8E4M3FN, 3>{{.*}}memref<{{[0-9]+}}x128xf8E5M2, 3>
// CHECK:       nvvm.setmaxregister increase {{160|240}}
// CHECK:       nvvm.wgmma.mma_async {{.*}}k = 32>, D[<f32>, <zero>], A[<e4m3>, <one>, <row>], B[<e5m2>, <one>, <col>]
// CHECK:       nvvm.wgmma.mma_async {{.*}}k = 32>, D[<f32>, <one>]
// CHECK:       wgmma.wait_group.sync.aligned 0
// CHECK:       arith.addf
// CHECK:       nvvm.setmaxregister decrease 24
// CHECK:     gpu.func @{{.*}}family = "rows"
// CHECK:     // -----
// WARPS:     nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<e4m3>, multiplicandBPtxType = #nvvm.mma_type<e5m2>
// WARPS:     gpu.func @{{.*}}family = "rows"
// AMPERE:    gpu.func @{{.*}}family = "rows"
"hir.program"() ({
^bb0(%x: memref<4096x1024xf8E4M3FN>, %w: memref<4096x1024xf8E5M2>, %y: memref<4096x4096xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x1024xf8E4M3FN>, memref<4096x1024xf8E5M2>) outs(%y : memref<4096x4096xbf16>) {
  ^bb0(%a: f8E4M3FN, %b: f8E5M2, %o: bf16):
    %p = arith.extf %a : f8E4M3FN to f32
    %q = arith.extf %b : f8E5M2 to f32
    %m = arith.mulf %p, %q : f32
    %s = "hir.reduce_loops"(%m) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  }
}) {sym_name = "floats", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x1024xf8E4M3FN>, memref<4096x1024xf8E5M2>, memref<4096x4096xbf16>) -> ()} : () -> ()

// -----

// Integers, of which one has no sign.

// CHECK:     nvvm.wgmma.mma_async {{.*}}k = 32>, D[<s32>, <one>], A[<u8>, <one>, <row>], B[<s8>, <one>, <col>]
// AMPERE:    nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<u8>, multiplicandBPtxType = #nvvm.mma_type<s8>
// CHECK:     // -----
"hir.program"() ({
^bb0(%x: memref<4096x1024xi8>, %w: memref<4096x1024xi8>, %y: memref<4096x4096xi32>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x1024xi8>, memref<4096x1024xi8>) outs(%y : memref<4096x4096xi32>) {
  ^bb0(%a: i8, %b: i8, %o: i32):
    %p = arith.extui %a : i8 to i32
    %q = arith.extsi %b : i8 to i32
    %m = arith.muli %p, %q : i32
    %s = "hir.reduce_loops"(%m) {kind = "addi", loops = array<i64: 2>} : (i32) -> i32
    linalg.yield %s : i32
  }
}) {sym_name = "integers", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x1024xi8>, memref<4096x1024xi8>, memref<4096x4096xi32>) -> ()} : () -> ()

// -----

// Sums of 16 bits are none of the tensor cores.

// CHECK-NOT:  nvvm.wgmma
// AMPERE:     // -----
// AMPERE-NOT: nvvm.mma.sync
"hir.program"() ({
^bb0(%x: memref<4096x1024xi8>, %w: memref<4096x1024xi8>, %y: memref<4096x4096xi16>):
  linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : memref<4096x1024xi8>, memref<4096x1024xi8>) outs(%y : memref<4096x4096xi16>) {
  ^bb0(%a: i8, %b: i8, %o: i16):
    %p = arith.extsi %a : i8 to i16
    %q = arith.extsi %b : i8 to i16
    %m = arith.muli %p, %q : i16
    %s = "hir.reduce_loops"(%m) {kind = "addi", loops = array<i64: 2>} : (i16) -> i16
    linalg.yield %s : i16
  }
}) {sym_name = "narrow", inputs = [{name = "x"}, {name = "w"}, {name = "y"}], function_type = (memref<4096x1024xi8>, memref<4096x1024xi8>, memref<4096x4096xi16>) -> ()} : () -> ()

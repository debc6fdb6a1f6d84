// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90a}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90}' | FileCheck %s --check-prefix=WARPS

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

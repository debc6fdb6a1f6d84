// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels,hir.launcher(canonicalize,cse),gpu.module(gpu.func(canonicalize,cse))' | FileCheck %s

// By a size a thread multiplies: the host computes its reciprocal. What is left of a number puts the
// product right. Integers need no scaling, as other numbers may.

// CHECK-LABEL: "hir.launcher"()
// CHECK:      ^bb0(%[[X:.*]]: memref<?x4096xf32>, %[[Y:.*]]: memref<?xf32>, %{{.*}}: index, %[[K:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK:        %[[N:.*]] = arith.sitofp
// CHECK:        %[[SCALED:.*]] = arith.mulf %[[K]], %[[SCALE:.*]] : f32
// CHECK-NEXT:   %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[SCALED]] : f32
// CHECK:        %[[VALUE:.*]] = arith.mulf %[[N]], %{{.*}} : f32
// CHECK-NEXT:   %[[RECIPROCAL:.*]] = arith.divf %{{.*}}, %[[VALUE]] : f32
// CHECK-NEXT:   "hir.launch"
// CHECK:          "hir.argument"(%[[SCALE]]) : (f32)
// CHECK-NEXT:     "hir.argument"(%[[SCALED]]) : (f32)
// CHECK-NEXT:     "hir.argument"(%[[INVERSE]]) : (f32)
// CHECK-NEXT:     "hir.argument"(%[[VALUE]]) : (f32)
// CHECK-NEXT:     "hir.argument"(%[[RECIPROCAL]]) : (f32)
// CHECK:          kernel = @kernels::@reduce_loops_divf_divf_0
// CHECK-LABEL: gpu.func @reduce_loops_divf_divf_0(
// CHECK-NOT:     arith.divf
// CHECK:         %[[FIRST:.*]] = arith.mulf %[[SUM:.*]], %[[R:.*]] : f32
// CHECK-NEXT:    %[[LESS:.*]] = arith.negf %[[FIRST]] : f32
// CHECK-NEXT:    %[[LEFT:.*]] = math.fma %[[LESS]], %{{.*}}, %[[SUM]] : f32
// CHECK-NEXT:    math.fma %[[LEFT]], %[[R]], %[[FIRST]] : f32
// CHECK:         math.fma
// CHECK-NOT:     arith.divf
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<?x4096xf32>, %k: f32, %y: memref<?xf32>):
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x4096xf32>
  %count = arith.index_cast %rows : index to i64
  %n = arith.sitofp %count : i64 to f32
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x4096xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %p = arith.divf %s, %n : f32
    %q = arith.divf %p, %k : f32
    linalg.yield %q : f32
  }
}) {sym_name = "main", function_type = (memref<?x4096xf32>, f32, memref<?xf32>) -> ()} : () -> ()

// -----

// By a constant it multiplies by another, but for a power of two, whose inverse is exact.

// CHECK-LABEL: "hir.launcher"()
// CHECK-NOT:    arith.divf
// CHECK-LABEL: gpu.func @reduce_loops_divf_divf_0(
// CHECK-DAG:     %[[EIGHTH:.*]] = arith.constant 1.250000e-01 : f64
// CHECK-DAG:     %[[THREE:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-DAG:     %[[THIRD:.*]] = arith.constant {{0.3333333333333333.*}} : f64
// CHECK-NOT:     arith.divf
// CHECK:         %[[FIRST:.*]] = arith.mulf %[[SUM:.*]], %[[THIRD]] : f64
// CHECK:         math.fma %{{.*}}, %[[THREE]], %[[SUM]] : f64
// CHECK:         arith.divf %[[SUM]], %[[EIGHTH]] : f64
// CHECK-NOT:     arith.divf
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<100x4096xf64>, %y: memref<100xf64>, %z: memref<100xf64>):
  %three = arith.constant 3.0 : f64
  %eighth = arith.constant 0.125 : f64
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>,
                                   affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<100x4096xf64>) outs(%y, %z : memref<100xf64>, memref<100xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f64) -> f64
    %p = arith.divf %s, %three : f64
    %q = arith.divf %s, %eighth : f64
    linalg.yield %p, %q : f64, f64
  }
}) {sym_name = "main",
    function_type = (memref<100x4096xf64>, memref<100xf64>, memref<100xf64>) -> ()} : () -> ()

// -----

// Where no thread waits for quotients the kernel is given the divisor, and divides once itself.

// CHECK-LABEL: "hir.launcher"()
// CHECK:      ^bb0(%{{.*}}: memref<1024xf32>, %{{.*}}: memref<1024xf32>, %[[K:.*]]: f32):
// CHECK-NOT:    arith.divf
// CHECK:        "hir.argument"(%[[K]]) : (f32)
// CHECK-LABEL: gpu.func @divf_0(
// CHECK:         arith.divf
// CHECK-NOT:     arith.divf
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<1024xf32>, %k: f32, %y: memref<1024xf32>):
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.divf %a, %k : f32
    linalg.yield %q : f32
  }
}) {sym_name = "main", function_type = (memref<1024xf32>, f32, memref<1024xf32>) -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels,hir.program(canonicalize,cse),gpu.module(gpu.func(canonicalize,cse))' | FileCheck %s

// Half of one more than a hyperbolic tangent is a logistic function: no tangent, and no half.

// CHECK-LABEL: "hir.program"()
// CHECK:       gpu.func @
// CHECK-DAG:     %[[FACTOR:.*]] = arith.constant -2.885390e+00 : f32
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         %[[X:.*]] = vector.extract %{{.*}}[0]
// CHECK:         %[[POWER:.*]] = arith.mulf %[[X]], %[[FACTOR]] : f32
// CHECK-NEXT:    %[[E:.*]] = nvvm.ex2 %[[POWER]] {ftz = true} : f32
// CHECK-NEXT:    %[[BELOW:.*]] = arith.addf %[[E]], %[[ONE]] : f32
// CHECK-NEXT:    %[[HALF:.*]] = nvvm.rcp.approx.ftz.f %[[BELOW]] : f32
// CHECK-NEXT:    arith.mulf %[[X]], %[[HALF]] : f32
// CHECK-NOT:     math.tanh
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<1024xf32>, %y: memref<1024xf32>):
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = math.tanh %a : f32
    %s = arith.addf %t, %one : f32
    %h = arith.mulf %s, %half : f32
    %r = arith.mulf %a, %h : f32
    linalg.yield %r : f32
  }
}) {sym_name = "main", function_type = (memref<1024xf32>, memref<1024xf32>) -> ()} : () -> ()

// -----

// The same with constants first.

// CHECK-LABEL: "hir.program"()
// CHECK:       gpu.func @
// CHECK:         %[[X:.*]] = vector.extract %{{.*}}[0]
// CHECK:         nvvm.ex2
// CHECK:         %[[HALF:.*]] = nvvm.rcp.approx.ftz.f
// CHECK-NEXT:    arith.mulf %[[X]], %[[HALF]] : f32
// CHECK-NOT:     math.tanh
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<1024xf32>, %y: memref<1024xf32>):
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = math.tanh %a : f32
    %s = arith.addf %one, %t : f32
    %h = arith.mulf %half, %s : f32
    %r = arith.mulf %a, %h : f32
    linalg.yield %r : f32
  }
}) {sym_name = "main", function_type = (memref<1024xf32>, memref<1024xf32>) -> ()} : () -> ()

// -----

// Where more is done with it than to halve it, it is twice the logistic function.

// CHECK-LABEL: "hir.program"()
// CHECK:       gpu.func @
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:         %[[X:.*]] = vector.extract %{{.*}}[0]
// CHECK:         %[[LOGISTIC:.*]] = nvvm.rcp.approx.ftz.f
// CHECK-NEXT:    %[[SUM:.*]] = arith.mulf %[[LOGISTIC]], %[[TWO]] : f32
// CHECK-NEXT:    arith.mulf %[[X]], %[[SUM]] : f32
// CHECK-NOT:     math.tanh
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<1024xf32>, %y: memref<1024xf32>, %z: memref<1024xf32>):
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                   affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<1024xf32>) outs(%y, %z : memref<1024xf32>, memref<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = math.tanh %a : f32
    %s = arith.addf %t, %one : f32
    %r = arith.mulf %a, %s : f32
    %h = arith.mulf %s, %half : f32
    linalg.yield %r, %h : f32, f32
  }
}) {sym_name = "main",
    function_type = (memref<1024xf32>, memref<1024xf32>, memref<1024xf32>) -> ()} : () -> ()

// -----

// Other sums stay, and so does f64.

// CHECK-LABEL: "hir.program"()
// CHECK:       gpu.func @
// CHECK-NOT:     nvvm.
// CHECK:         math.tanh {{.*}} : f32
// CHECK:         math.tanh {{.*}} : f64
// CHECK-NOT:     nvvm.
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<1024xf32>, %w: memref<1024xf64>, %y: memref<1024xf32>, %z: memref<1024xf64>):
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f64
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                   affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x, %w : memref<1024xf32>, memref<1024xf64>)
      outs(%y, %z : memref<1024xf32>, memref<1024xf64>) {
  ^bb0(%a: f32, %d: f64, %b: f32, %c: f64):
    %t = math.tanh %a : f32
    %s = arith.addf %t, %two : f32
    %u = math.tanh %d : f64
    %v = arith.addf %u, %one : f64
    linalg.yield %s, %v : f32, f64
  }
}) {sym_name = "main",
    function_type = (memref<1024xf32>, memref<1024xf64>, memref<1024xf32>, memref<1024xf64>) -> ()}
    : () -> ()

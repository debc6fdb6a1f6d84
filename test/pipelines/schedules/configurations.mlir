// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90}' | FileCheck %s
// RUN: hirc-opt %s -p 'hir-schedule-kernels{chips=sm_90 tuned=false}' | FileCheck %s --check-prefix=GENERAL
// RUN: hirc-opt %s -p 'hir-list-configurations{chips=sm_90}' | FileCheck %s --check-prefix=LISTED

// What is asked for comes first, with what it leaves out as the compiler would choose it, and the
// compiler's own kernels where that cannot be. The general schedules take no configuration.

// CHECK-LABEL: "hir.launcher"
// CHECK:         kernel = @kernels::@negf_0
// CHECK:         kernel = @kernels::@negf_1
// CHECK:         kernel = @kernels::@negf_2
// CHECK-LABEL: gpu.func @negf_0
// CHECK-SAME:    hir.configuration = {family = "pointwise", kernel = "flat", layout = "packed", pieces = true, threads = 512 : i64, unroll = 2 : i64, width = 4 : i64}
// CHECK-SAME:    known_block_size = array<i32: 512, 1, 1>
// CHECK-LABEL: gpu.func @negf_1
// CHECK-SAME:    threads = 256 : i64, unroll = 1 : i64, width = 4 : i64
// CHECK-LABEL: gpu.func @negf_2
// CHECK-SAME:    kernel = "single"
// GENERAL-NOT: family
// LISTED: hir.configurations = [{family = "pointwise", kernel = "flat",{{.*}}{family = "pointwise", kernel = "single"
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>):
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
      attrs = {hir.configuration = {family = "pointwise", unroll = 2, threads = 512}} {
  ^bb0(%a: f32, %b: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  }
}) {sym_name = "main", function_type = (memref<?xf32>, memref<?xf32>) -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=sm_90}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'hir-list-configurations{chips=sm_90}' | FileCheck %s --check-prefix=LISTED
// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels{chips=gfx90a}' | FileCheck %s --check-prefix=AMD

// What is decided for open sizes: short rows by lanes, longer ones by a warp, by blocks or clusters, the same
// element by element and from aligned elements on, what nothing holds, and rows of any strides.

// CHECK-LABEL: gpu.func @reduce_loops_subf_0
// CHECK-SAME:    hir.configuration = {blocks = 1 : i64, family = "rows", kernel = "kept", lanes = 32 : i64, layout = "packed", merged = false, open = true, peeled = false, resident = 1 : i64, rows = 4 : i64, staged = false, tall = false, threads = 128 : i64, vectors = 4 : i64, width = 4 : i64}
// CHECK-LABEL: gpu.func @reduce_loops_subf_1
// CHECK-SAME:    blocks = 1 : i64{{.*}}kernel = "kept"{{.*}}merged = false, open = false, peeled = false, resident = 2 : i64, rows = 4 : i64, staged = false, tall = false, threads = 128 : i64, vectors = 8 : i64, width = 4 : i64
// CHECK-LABEL: gpu.func @reduce_loops_subf_2
// CHECK-SAME:    blocks = 8 : i64{{.*}}kernel = "kept"{{.*}}merged = true, open = true, peeled = false, resident = 2 : i64, rows = 1 : i64, staged = false, tall = false, threads = 512 : i64, vectors = 10 : i64, width = 4 : i64
// CHECK-LABEL: gpu.func @reduce_loops_subf_3
// CHECK-SAME:    kernel = "kept"{{.*}}vectors = 16 : i64, width = 1 : i64
// CHECK-LABEL: gpu.func @reduce_loops_subf_4
// CHECK-SAME:    blocks = 8 : i64{{.*}}kernel = "kept"{{.*}}peeled = true
// CHECK-LABEL: gpu.func @reduce_loops_subf_5
// CHECK-SAME:    kernel = "split"{{.*}}peeled = true
// CHECK-LABEL: gpu.func @reduce_loops_subf_6
// CHECK-SAME:    kernel = "streamed"{{.*}}peeled = false{{.*}}tall = true{{.*}}width = 1 : i64
// LISTED: hir.configurations = [{blocks = 1 : i64, family = "rows", kernel = "kept"
// AMD-LABEL: gpu.func @reduce_loops_subf_2
// AMD-SAME:    open = true{{.*}}threads = 512 : i64
// AMD-NOT:     nvvm.maxntid
// AMD-SAME:    rocdl.max_flat_work_group_size = 512
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?x?xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?x?xf32>) -> ()} : () -> ()

// -----

// Of a known length the decision is one, for so many threads.

// CHECK-LABEL: gpu.func @reduce_loops_subf_0
// CHECK-SAME:    hir.configuration = {blocks = 1 : i64, family = "rows", kernel = "kept"{{.*}}open = false, peeled = false, resident = 4 : i64, rows = 1 : i64, staged = false, tall = false, threads = 256 : i64, vectors = 2 : i64, width = 4 : i64}
// LISTED: hir.configurations = [
"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

// What is asked for comes first: what it leaves out is as in the compiler's own that is nearest, and
// the compiler's own follow, for where it does not hold.

// CHECK-LABEL: "hir.launcher"
// CHECK:         "hir.launch"(%{{.*}}, %c1{{.*}}, %c1{{.*}}, %c256
// CHECK:         kernel = @kernels::@reduce_loops_subf_0}
// CHECK:         kernel = @kernels::@reduce_loops_subf_1}
// CHECK-LABEL: gpu.func @reduce_loops_subf_0
// CHECK-SAME:    blocks = 1 : i64, family = "rows", kernel = "streamed"{{.*}}open = false, peeled = false, resident = 3 : i64{{.*}}threads = 256 : i64, vectors = 2 : i64, width = 4 : i64
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 3 : i32
// CHECK-LABEL: gpu.func @reduce_loops_subf_1
// CHECK-SAME:    kernel = "kept"
"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", kernel = "streamed", threads = 256, resident = 3}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

// A sum that is split, of rows that the host finds to be few and long.

// CHECK-LABEL: "hir.launcher"
// CHECK:         kernel = @kernels::@reduce_loops_part_0}
// CHECK:         kernel = @kernels::@reduce_loops_parts_1, overlaps}
// CHECK-LABEL: gpu.func @reduce_loops_part_0
// CHECK-SAME:    kernel = "split"{{.*}}merged = true, open = false{{.*}}threads = 128 : i64, vectors = 4 : i64, width = 4 : i64
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?xf32>):
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) attrs = {hir.configuration = {family = "rows", kernel = "split", threads = 128, vectors = 4}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

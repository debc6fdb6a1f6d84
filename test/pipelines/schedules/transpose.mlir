// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels,hir.program(canonicalize,cse),gpu.module(gpu.func(canonicalize,cse))' | FileCheck %s

// A block of 256 threads turns a tile of 64 by 64: a thread loads four vectors along the input's
// rows, stores them to shared memory as four along the output's, and after a barrier writes four of
// others'. Sizes that make whole tiles need no conditions but for addresses: others have a kernel
// of their own.

// CHECK-LABEL: "hir.program"()
// CHECK:        "hir.launch"(%c8{{.*}}, %{{.*}}, %{{.*}}, %c256{{.*}}, %{{.*}}, %{{.*}}, %c16384{{.*}})
// CHECK:        kernel = @kernels::@copy_transposed_0
// CHECK:        kernel = @kernels::@copy_transposed_1
// CHECK-NOT:    "hir.launch"
// CHECK-LABEL: gpu.func @copy_transposed_0(
// CHECK:         gpu.dynamic_shared_memory
// CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:         arith.xori
// CHECK-COUNT-4: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK:         gpu.barrier
// CHECK-NOT:     scf.if
// CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-4: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<256x128xf32>, %y: memref<128x256xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : memref<256x128xf32>) outs(%y : memref<128x256xf32>) {
  ^bb0(%a: f32, %d: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<256x128xf32>, memref<128x256xf32>) -> ()} : () -> ()

// -----

// Where rows are of no whole vectors, and elements too large for pieces of them to be put together,
// tiles move single ones; a thread has 16 under way.

// CHECK-LABEL: "hir.program"()
// CHECK-NOT:    "hir.if"
// CHECK:        "hir.launch"(%c8{{.*}}, %{{.*}}, %{{.*}}, %c256{{.*}}, %{{.*}}, %{{.*}}, %c32768{{.*}})
// CHECK-LABEL: gpu.func @copy_transposed_0(
// CHECK-COUNT-16: llvm.load {{.*}} : !llvm.ptr<1> -> f64
// CHECK-COUNT-16: llvm.store {{.*}} : f64, !llvm.ptr<3>
// CHECK:          gpu.barrier
// CHECK:          scf.if
// CHECK-COUNT-16:   llvm.store {{.*}} : f64, !llvm.ptr<1>
// CHECK:          } else {
"hir.program"() ({
^bb0(%x: memref<255x127xf64>, %y: memref<127x255xf64>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : memref<255x127xf64>) outs(%y : memref<127x255xf64>) {
  ^bb0(%a: f64, %d: f64):
    linalg.yield %a : f64
  }
}) {sym_name = "main", function_type = (memref<255x127xf64>, memref<127x255xf64>) -> ()} : () -> ()

// -----

// What is not transposed is read where it is used, and before the barrier; open sizes must be
// multiples of a vector. Only blocks at the edges look at each of their vectors.

// CHECK-LABEL: "hir.program"()
// CHECK:        arith.remui %{{.*}}, %c8
// CHECK-LABEL: gpu.func @addf_transposed_0(
// CHECK-COUNT-16: {{llvm.load .* -> vector<8xbf16>|cache_hint.v4.b32}}
// CHECK:         gpu.barrier
// CHECK-NOT:     {{!llvm.ptr<1> -> vector|cache_hint}}
// CHECK:         scf.if
// CHECK-COUNT-8:   llvm.store {{.*}} : vector<8xbf16>, !llvm.ptr<1>
// CHECK:         } else {
// CHECK-COUNT-8:   scf.if
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<?x?xbf16>, %z: memref<?x?xbf16>, %y: memref<?x?xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(b, j) -> (j, b)>, affine_map<(b, j) -> (b, j)>,
                     affine_map<(b, j) -> (b, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %z : memref<?x?xbf16>, memref<?x?xbf16>) outs(%y : memref<?x?xbf16>) {
  ^bb0(%a: bf16, %c: bf16, %d: bf16):
    %s = arith.addf %a, %c : bf16
    linalg.yield %s : bf16
  }
}) {sym_name = "main", function_type = (memref<?x?xbf16>, memref<?x?xbf16>, memref<?x?xbf16>) -> ()} : () -> ()

// -----

// A short side makes the other one long; loops that neither is are the grid's, and neighbours in
// memory are one: here 5 images of 420 by 3 become 3 by 420.

// CHECK-LABEL: "hir.program"()
// CHECK:        "hir.launch"(%c5{{.*}}, {{.*}}, %c256{{.*}}, %{{.*}}, %{{.*}}, %c8192{{.*}})
// CHECK:        kernel = @kernels::@copy_transposed_0
"hir.program"() ({
^bb0(%x: memref<5x20x21x3xf32>, %y: memref<5x3x20x21xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(n, c, h, w) -> (n, h, w, c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%x : memref<5x20x21x3xf32>) outs(%y : memref<5x3x20x21xf32>) {
  ^bb0(%a: f32, %d: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<5x20x21x3xf32>, memref<5x3x20x21xf32>) -> ()} : () -> ()

// -----

// Of open sizes the run tells whether tiles have a quarter of their elements, those at aligned
// addresses more than half of each side, and whether there is one for every other multiprocessor:
// else vectors of what is written are computed one by one.

// CHECK-LABEL: launcher = @launch_absf_transposed_0
// CHECK:         arith.cmpi uge, %{{.*}}, %c270336
// CHECK-DAG:     %[[ROWS:.*]] = arith.minui %{{.*}}, %c64
// CHECK-DAG:     %[[COLUMNS:.*]] = arith.minui %{{.*}}, %c64
// CHECK:         %[[ALL:.*]] = arith.muli %{{.*}}, %{{.*}}
// CHECK:         arith.cmpi uge, %[[ALL]], %c1024
// CHECK:         kernel = @kernels::@absf_transposed_0
// CHECK:         arith.cmpi uge, %{{.*}}, %c1081344
// CHECK-COUNT-2: arith.cmpi uge, %{{.*}}, %c65
// CHECK:         kernel = @kernels::@absf_transposed_1
// CHECK:         kernel = @kernels::@absf_2
// CHECK-LABEL: gpu.func @absf_2(
// CHECK-SAME:    family = "pointwise", kernel = "flat"
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?x?xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?x?xf32>) -> ()} : () -> ()

// -----

// Buffers of which only the run knows whether they are packed: two loops are one if they are, and long
// enough for tiles. Where no tile fits, elements are moved one by one, in vectors of the result.

// CHECK: gpu.func @copy_transposed_0{{.*}}column_side = 128 : i64, family = "transpose", kernel = "squares", layout = "packed", row_side = 32 : i64, threads = 256 : i64, width = 1
// CHECK: gpu.func @copy_{{.*}}family = "pointwise"
"hir.program"() ({
^bb0(%x: memref<2364x17x128x8xbf16, strided<[?, ?, ?, ?], offset: ?>>, %y: memref<2364x128x8x17xbf16>, %u: memref<64x5x1000xbf16, strided<[?, ?, ?], offset: ?>>, %v: memref<64x1000x5xbf16>):
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<2364x17x128x8xbf16, strided<[?, ?, ?, ?], offset: ?>>) outs(%y : memref<2364x128x8x17xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  }
  linalg.generic {indexing_maps = [affine_map<(n, h, c) -> (n, c, h)>, affine_map<(n, h, c) -> (n, h, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%u : memref<64x5x1000xbf16, strided<[?, ?, ?], offset: ?>>) outs(%v : memref<64x1000x5xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  }
}) {sym_name = "main", function_type = (memref<2364x17x128x8xbf16, strided<[?, ?, ?, ?], offset: ?>>, memref<2364x128x8x17xbf16>, memref<64x5x1000xbf16, strided<[?, ?, ?], offset: ?>>, memref<64x1000x5xbf16>) -> ()} : () -> ()

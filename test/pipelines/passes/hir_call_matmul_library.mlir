// RUN: hirc-opt %s --split-input-file -p 'hir-call-matmul-library{kernel-multiplications=0}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'hir-call-matmul-library{allow-tf32 kernel-multiplications=0}' | FileCheck %s --check-prefix=TF32
// RUN: hirc-opt %s --split-input-file -p hir-call-matmul-library,hir.program'(canonicalize,cse)' | FileCheck %s --check-prefix=SMALL

// Zeros just before it are dropped; open sizes that the program does not know to be equal are checked.

// CHECK-LABEL: "hir.program"()
// CHECK-NOT:     linalg.fill
// CHECK:         cf.assert %{{.*}}, "dim 1 of operand 0 and dim 0 of operand 1 are one loop of linalg.matmul and must have the same size"
// CHECK-NOT:     cf.assert
// CHECK:         "hir.library_matmul"(%{{.*}}) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
// CHECK-NOT:     linalg.matmul
// CHECK:         sym_name = "zeros"
// TF32:          "hir.library_matmul"(%{{.*}}) {compute = "tf32",
// Where sizes are open, the program chooses. A thread then computes an element of a kernel's result
// if the number of terms is open.
// SMALL-LABEL: "hir.program"()
// SMALL-DAG:     %[[LEAST:.*]] = arith.constant 1048576 : index
// SMALL-DAG:     %[[IN_TURN:.*]] = arith.constant 256 : index
// SMALL:         %[[M:.*]] = memref.dim %[[A:.*]], %c0
// SMALL:         %[[K:.*]] = memref.dim %[[A]], %c1
// SMALL:         cf.assert
// SMALL:         %[[RESULTS:.*]] = arith.muli %[[M]], %c128
// SMALL:         %[[COUNT:.*]] = arith.muli %[[RESULTS]], %[[K]]
// SMALL:         arith.cmpi ule, %[[COUNT]], %[[LEAST]]
// SMALL:         %[[FEW:.*]] = arith.cmpi ule, %[[K]], %[[IN_TURN]]
// SMALL:         %[[CHOICE:.*]] = arith.andi %{{.*}}, %[[FEW]] : i1
// SMALL:         "hir.if"(%[[CHOICE]]) ({
// SMALL-NEXT:      linalg.generic {{.*}}{hir.general_schedule}
// SMALL:             "hir.reduce_loops"
// SMALL:         }, {
// SMALL-NEXT:      "hir.library_matmul"
// SMALL-NEXT:    })
"hir.program"() ({
^bb0(%a: memref<?x?xf32>, %b: memref<?x128xf32>):
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %c = "hir.allocate"(%m) : (index) -> memref<?x128xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<?x128xf32>)
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x128xf32>) outs(%c : memref<?x128xf32>)
  "hir.output"(%c) : (memref<?x128xf32>) -> ()
}) {sym_name = "zeros", function_type = (memref<?x?xf32>, memref<?x128xf32>) -> memref<?x128xf32>} : () -> ()

// -----

// What was there is added to: other numbers than zero, zeros that something read or that may have
// been written over.

// CHECK-LABEL: "hir.program"()
// CHECK:         linalg.fill
// CHECK-NEXT:    "hir.library_matmul"(%{{.*}}) {compute = "f64"
// CHECK:         linalg.fill
// CHECK-NEXT:    linalg.copy
// CHECK-NEXT:    "hir.library_matmul"(%{{.*}}) {compute
// CHECK:         linalg.fill
// CHECK-NEXT:    linalg.fill
// CHECK-NEXT:    "hir.library_matmul"(%{{.*}}) {compute
// Another buffer of the program's own may be written meanwhile.
// CHECK:         hir.allocate
// CHECK-NEXT:    linalg.copy
// CHECK-NEXT:    "hir.library_matmul"(%{{.*}}) {compute
// SMALL-LABEL: "hir.program"()
// SMALL-NOT:     hir.library_matmul
// SMALL:         sym_name = "added"
"hir.program"() ({
^bb0(%a: memref<64x64xf64>, %b: memref<64x64xf64>, %c: memref<64x64xf64>, %d: memref<64x64xf64>):
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  linalg.fill ins(%one : f64) outs(%c : memref<64x64xf64>)
  linalg.matmul ins(%a, %b : memref<64x64xf64>, memref<64x64xf64>) outs(%c : memref<64x64xf64>)
  linalg.fill ins(%zero : f64) outs(%c : memref<64x64xf64>)
  linalg.copy ins(%c : memref<64x64xf64>) outs(%d : memref<64x64xf64>)
  linalg.matmul ins(%a, %b : memref<64x64xf64>, memref<64x64xf64>) outs(%c : memref<64x64xf64>)
  linalg.fill ins(%zero : f64) outs(%c : memref<64x64xf64>)
  linalg.fill ins(%one : f64) outs(%d : memref<64x64xf64>)
  linalg.matmul ins(%a, %b : memref<64x64xf64>, memref<64x64xf64>) outs(%c : memref<64x64xf64>)
  %e = "hir.allocate"() : () -> memref<64x64xf64>
  linalg.fill ins(%zero : f64) outs(%e : memref<64x64xf64>)
  linalg.copy ins(%a : memref<64x64xf64>) outs(%d : memref<64x64xf64>)
  linalg.matmul ins(%a, %b : memref<64x64xf64>, memref<64x64xf64>) outs(%e : memref<64x64xf64>)
}) {sym_name = "added", function_type = (memref<64x64xf64>, memref<64x64xf64>, memref<64x64xf64>, memref<64x64xf64>) -> ()} : () -> ()

// -----

// Every form of a product: named, with maps, generic; of narrow floats into f32 or themselves; as a
// reduction whose sum is rounded.

// CHECK-LABEL: "hir.program"()
// CHECK:         dims = [array<i64: 0, 1, 3>, array<i64: 0, 3, 2>, array<i64: 0, 1, 2>, array<i64: 0, 1, 2>]{{.*}}memref<4x64x64xf16>) -> ()
// CHECK:         dims = [array<i64: 2, 0>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 0, 1>]{{.*}}memref<64x64xf32>) -> ()
// CHECK:         dims = [array<i64: 0, 1>, array<i64: 1>, array<i64: 0>, array<i64: 0>]{{.*}} : (memref<4096x64xbf16>, memref<64xbf16>, memref<4096xf32>, memref<4096xf32>)
// CHECK:         dims = [array<i64: 0, 3>, array<i64: 1, 2, 3>, array<i64: 1, 0, 2>, array<i64: 1, 0, 2>]
// CHECK:         "hir.library_matmul"(%{{.*}}) {compute = "f32", dims = [array<i64: 0, 2>, array<i64: 1, 2>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
// CHECK-NOT:     linalg.
// CHECK:         sym_name = "forms"
#first = affine_map<(i, j, k) -> (k, i)>
#second = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>
"hir.program"() ({
^bb0(%a: memref<4x64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>, %d: memref<4096x64xbf16>, %e: memref<64xbf16>,
     %f: memref<4096xf32>, %g: memref<4x64x64xf16>, %h: memref<4x64x64xf16>, %n: memref<64x64xf16>):
  linalg.batch_matmul ins(%a, %g : memref<4x64x64xf16>, memref<4x64x64xf16>) outs(%h : memref<4x64x64xf16>)
  linalg.matmul indexing_maps = [#first, #second, #result]
    ins(%b, %n : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
  linalg.matvec ins(%d, %e : memref<4096x64xbf16>, memref<64xbf16>) outs(%f : memref<4096xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, l, k) -> (i, k)>, affine_map<(i, j, l, k) -> (j, l, k)>,
                                   affine_map<(i, j, l, k) -> (j, i, l)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%b, %a : memref<64x64xf16>, memref<4x64x64xf16>) outs(%h : memref<4x64x64xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %y, %x : f16
    %s = arith.addf %p, %z : f16
    linalg.yield %s : f16
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, #result],
                  iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%b, %n : memref<64x64xf16>, memref<64x64xf16>) outs(%b : memref<64x64xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %u = arith.extf %x : f16 to f32
    %v = arith.extf %y : f16 to f32
    %p = arith.mulf %u, %v : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    %r = arith.truncf %s : f32 to f16
    linalg.yield %r : f16
  }
}) {sym_name = "forms", function_type = (memref<4x64x64xf16>, memref<64x64xf16>, memref<64x64xf32>, memref<4096x64xbf16>, memref<64xbf16>,
     memref<4096xf32>, memref<4x64x64xf16>, memref<4x64x64xf16>, memref<64x64xf16>) -> ()} : () -> ()

// -----

// What the library is not called for: integers, wider sums than it has, other
// arithmetic, a sum of one operand alone, batches of sums, strides that no matrix has, sums over dims
// that do not lie as one.

// CHECK-LABEL: "hir.program"()
// CHECK-NOT:     hir.library_matmul
// CHECK:         sym_name = "others"
"hir.program"() ({
^bb0(%a: memref<64x64xi32>, %c: memref<64x64xf32>, %d: memref<64x64xf64>,
     %s: memref<64x64xf32, strided<[256, 2]>>, %t: memref<64x8x8xf32>, %e: memref<8x64xf32>,
     %u: memref<64x64x64xf32>):
  linalg.matmul ins(%a, %a : memref<64x64xi32>, memref<64x64xi32>) outs(%a : memref<64x64xi32>)
  linalg.map { arith.mulf } ins(%c, %c : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.matmul ins(%c, %c : memref<64x64xf32>, memref<64x64xf32>) outs(%d : memref<64x64xf64>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%c, %c : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.addf %x, %y : f32
    %m = arith.maximumf %p, %z : f32
    linalg.yield %m : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k, l)>, affine_map<(i, j, k, l) -> (k, j)>, affine_map<(i, j, k, l) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%t, %e : memref<64x8x8xf32>, memref<8x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %m = arith.addf %p, %z : f32
    linalg.yield %m : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%u, %u : memref<64x64x64xf32>, memref<64x64x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %m = arith.addf %p, %z : f32
    linalg.yield %m : f32
  }
  linalg.matmul ins(%s, %c : memref<64x64xf32, strided<[256, 2]>>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k, l)>, affine_map<(i, j, k, l) -> (j, l, k)>, affine_map<(i, j, k, l) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%t, %t : memref<64x8x8xf32>, memref<64x8x8xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %m = arith.addf %p, %z : f32
    linalg.yield %m : f32
  }
}) {sym_name = "others", function_type = (memref<64x64xi32>, memref<64x64xf32>, memref<64x64xf64>,
     memref<64x64xf32, strided<[256, 2]>>, memref<64x8x8xf32>, memref<8x64xf32>, memref<64x64x64xf32>) -> ()} : () -> ()

// -----

// hir.linear: the bias is the library's where the result is rounded once, else it is added after it.

// CHECK-LABEL: "hir.program"()
// CHECK-NOT:     linalg.generic
// CHECK:         "hir.library_matmul"(%{{.*}}) {compute = "f32", dims = [array<i64: 0, 1, 3>, array<i64: 2, 3>, array<i64: 0, 1, 2>, array<i64: 2>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}
// CHECK:         "hir.library_matmul"(%{{.*}}) {compute = "f64", dims = [array<i64: 0, 2>, array<i64: 1, 2>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
// CHECK:         linalg.generic
// CHECK:         arith.addf %{{.*}} : f64
// CHECK:         sym_name = "linear"
"hir.program"() ({
^bb0(%x: memref<4x16x64xf16>, %w: memref<64x64xf16>, %b: memref<64xf16>, %y: memref<4x16x64xf16>,
     %d: memref<64x64xf64>, %e: memref<64xf64>, %f: memref<64x64xf64>):
  "hir.linear"(%x, %w, %b, %y) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (memref<4x16x64xf16>, memref<64x64xf16>, memref<64xf16>, memref<4x16x64xf16>) -> ()
  "hir.linear"(%d, %d, %e, %f) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (memref<64x64xf64>, memref<64x64xf64>, memref<64xf64>, memref<64x64xf64>) -> ()
}) {sym_name = "linear", function_type = (memref<4x16x64xf16>, memref<64x64xf16>, memref<64xf16>, memref<4x16x64xf16>, memref<64x64xf64>, memref<64xf64>, memref<64x64xf64>) -> ()} : () -> ()

// -----

// hir.matmul: operands in tf32 are not rounded again, a result in tf32 is; a batch may repeat.

// CHECK-LABEL: "hir.program"()
// CHECK:         "hir.library_matmul"(%{{.*}}) {compute = "tf32", dims = [array<i64: 0, 1, 3>, array<i64: -1, 3, 2>, array<i64: 0, 1, 2>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
// CHECK-NEXT:    linalg.generic
// CHECK:         arith.bitcast
// CHECK:         "hir.library_matmul"(%{{.*}}) {compute = "tf32"
// CHECK-NOT:     linalg.generic
// CHECK:         sym_name = "matmul"
"hir.program"() ({
^bb0(%x: memref<4x64x64xtf32>, %y: memref<1x64x64xtf32>, %z: memref<4x64x64xtf32>, %w: memref<4x64x64xf32>):
  "hir.matmul"(%x, %y, %z) : (memref<4x64x64xtf32>, memref<1x64x64xtf32>, memref<4x64x64xtf32>) -> ()
  "hir.matmul"(%x, %y, %w) : (memref<4x64x64xtf32>, memref<1x64x64xtf32>, memref<4x64x64xf32>) -> ()
}) {sym_name = "matmul", function_type = (memref<4x64x64xtf32>, memref<1x64x64xtf32>, memref<4x64x64xtf32>, memref<4x64x64xf32>) -> ()} : () -> ()

// -----

// linalg on tf32: the buffers are seen as they are stored, and a result in tf32 is rounded after.

// CHECK-LABEL: "hir.program"()
// CHECK:       ^bb0(%[[X:.*]]: memref<64x64xtf32>, %[[Y:.*]]: memref<64x64xtf32>, %[[Z:.*]]: memref<64x64xf32>):
// CHECK:         %[[XS:.*]] = builtin.unrealized_conversion_cast %[[X]] : memref<64x64xtf32> to memref<64x64xf32>
// CHECK:         %[[YS:.*]] = builtin.unrealized_conversion_cast %[[Y]] : memref<64x64xtf32> to memref<64x64xf32>
// CHECK-NEXT:    "hir.library_matmul"(%[[XS]], %[[YS]], %[[Z]], %[[Z]]) {compute = "tf32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 0, 1>, array<i64: 0, 1>], operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>}
// CHECK:         %[[RS:.*]] = builtin.unrealized_conversion_cast %[[X]] : memref<64x64xtf32> to memref<64x64xf32>
// CHECK:         "hir.library_matmul"(%{{.*}}, %{{.*}}, %[[RS]], %[[RS]]) {compute = "tf32",
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[RS]] : memref<64x64xf32>)
// CHECK:           arith.bitcast
// CHECK-NOT:     linalg.matmul
"hir.program"() ({
^bb0(%x: memref<64x64xtf32>, %y: memref<64x64xtf32>, %z: memref<64x64xf32>):
  linalg.matmul ins(%x, %y : memref<64x64xtf32>, memref<64x64xtf32>) outs(%z : memref<64x64xf32>)
  linalg.matmul ins(%y, %y : memref<64x64xtf32>, memref<64x64xtf32>) outs(%x : memref<64x64xtf32>)
}) {sym_name = "tf32", function_type = (memref<64x64xtf32>, memref<64x64xtf32>, memref<64x64xf32>) -> ()} : () -> ()

// -----

// Kernels: few multiplications; more of them where many sums have few terms; a matrix times a vector,
// unless it is added to what is there. The library: many terms that do not lie together.

// SMALL-LABEL: ^bb0(%{{.*}}: memref<64x64xf32>, %{{.*}}: memref<1000x16x16xf32>,
// SMALL:         linalg.matmul
// SMALL:         linalg.batch_matmul
// SMALL-NOT:     linalg.
// SMALL:         "hir.library_matmul"(%{{.*}}, %{{.*}}, %[[Z:.*]], %[[Z]]) {{.*}} : (memref<4096x4096xf32>, memref<4096xf32>, memref<4096xf32>, memref<4096xf32>)
// SMALL-NEXT:    "hir.library_matmul"(%{{.*}}) {{.*}} : (memref<1024x16xf32>, memref<1024x16xf32>, memref<16x16xf32>, memref<16x16xf32>)
// SMALL-NOT:     linalg.fill
// SMALL:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : memref<4096x4096xf32>, memref<4096xf32>)
// SMALL:           "hir.reduce_loops"
// SMALL-NOT:     linalg.fill
// SMALL:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : memref<4096xf32>, memref<4096x4096xf32>)
// SMALL:           "hir.reduce_loops"
// SMALL-NOT:     linalg.{{fill|generic|vecmat|matvec}}
// SMALL:         sym_name = "known"
"hir.program"() ({
^bb0(%a: memref<64x64xf32>, %b: memref<1000x16x16xf32>, %c: memref<4096x4096xf32>, %d: memref<4096xf32>,
     %e: memref<4096xf32>, %f: memref<1024x16xf32>, %g: memref<16x16xf32>):
  linalg.matmul ins(%a, %a : memref<64x64xf32>, memref<64x64xf32>) outs(%a : memref<64x64xf32>)
  linalg.batch_matmul ins(%b, %b : memref<1000x16x16xf32>, memref<1000x16x16xf32>) outs(%b : memref<1000x16x16xf32>)
  linalg.matvec ins(%c, %d : memref<4096x4096xf32>, memref<4096xf32>) outs(%e : memref<4096xf32>)
  linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    ins(%f, %f : memref<1024x16xf32>, memref<1024x16xf32>) outs(%g : memref<16x16xf32>)
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%e : memref<4096xf32>)
  linalg.matvec ins(%c, %d : memref<4096x4096xf32>, memref<4096xf32>) outs(%e : memref<4096xf32>)
  linalg.fill ins(%zero : f32) outs(%d : memref<4096xf32>)
  linalg.vecmat ins(%e, %c : memref<4096xf32>, memref<4096x4096xf32>) outs(%d : memref<4096xf32>)
}) {sym_name = "known", function_type = (memref<64x64xf32>, memref<1000x16x16xf32>, memref<4096x4096xf32>, memref<4096xf32>,
     memref<4096xf32>, memref<1024x16xf32>, memref<16x16xf32>) -> ()} : () -> ()

// -----

// Known terms that lie together: the kernel is one of rows, and takes few rows of the open dim
// whatever the sizes. What hir.linear ends with is part of it.

// SMALL-LABEL: ^bb0(%{{.*}}: memref<?x4096xf32>,
// SMALL:         %[[M:.*]] = memref.dim %{{.*}}, %c0
// SMALL:         %[[FEW:.*]] = arith.cmpi ule, %[[M]], %c8
// SMALL:         %[[CHOICE:.*]] = arith.ori %{{.*}}, %[[FEW]]
// SMALL:         "hir.if"(%[[CHOICE]]) ({
// SMALL-NEXT:      linalg.generic
// SMALL-NOT:         hir.general_schedule
// SMALL:             %[[SUM:.*]] = "hir.reduce_loops"
// SMALL:             arith.addf %[[SUM]]
// SMALL:         }, {
// SMALL-NEXT:      "hir.library_matmul"
"hir.program"() ({
^bb0(%x: memref<?x4096xf32>, %w: memref<4096x4096xf32>, %b: memref<4096xf32>, %y: memref<?x4096xf32>):
  "hir.linear"(%x, %w, %b, %y) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (memref<?x4096xf32>, memref<4096x4096xf32>, memref<4096xf32>, memref<?x4096xf32>) -> ()
}) {sym_name = "row", function_type = (memref<?x4096xf32>, memref<4096x4096xf32>, memref<4096xf32>, memref<?x4096xf32>) -> ()} : () -> ()

// -----

// Zeros that the product multiplies too stay, also if it reads them through a view.

// SMALL-LABEL: ^bb0(%{{.*}}: memref<64x64xf32>, %{{.*}}: memref<64xf32>, %{{.*}}: memref<8x8xf32>
// SMALL:         linalg.fill {{.*}} outs(%[[E:[a-z0-9]*]] : memref<64xf32>)
// SMALL-NEXT:    linalg.matvec ins(%{{.*}}, %[[E]] : memref<64x64xf32>, memref<64xf32>)
// SMALL:         linalg.fill {{.*}} outs(%[[R:[a-z0-9_]*]] : memref<64xf32>)
// SMALL-NEXT:    linalg.matvec ins(%{{.*}}, %{{.*}} : memref<64x64xf32>, memref<64xf32>) outs(%[[R]] :
"hir.program"() ({
^bb0(%c: memref<64x64xf32>, %e: memref<64xf32>, %f: memref<8x8xf32>, %g: memref<8x1x8xf32>):
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%e : memref<64xf32>)
  linalg.matvec ins(%c, %e : memref<64x64xf32>, memref<64xf32>) outs(%e : memref<64xf32>)
  %view = memref.collapse_shape %f [[0, 1]] : memref<8x8xf32> into memref<64xf32>
  %both = memref.expand_shape %f [[0, 1], [2]] output_shape [8, 1, 8] : memref<8x8xf32> into memref<8x1x8xf32>
  %result = memref.collapse_shape %both [[0, 1, 2]] : memref<8x1x8xf32> into memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%result : memref<64xf32>)
  linalg.matvec ins(%c, %view : memref<64x64xf32>, memref<64xf32>) outs(%result : memref<64xf32>)
}) {sym_name = "multiplied", function_type = (memref<64x64xf32>, memref<64xf32>, memref<8x8xf32>, memref<8x1x8xf32>) -> ()} : () -> ()

// -----

// So do zeros in memory that another operand may be: a branch gives a buffer out. What lies elsewhere
// does not matter.

// CHECK-LABEL: ^bb0(%{{.*}}: i1, %{{.*}}: memref<64x64xf32>)
// CHECK:         %[[RESULTS:.*]] = "hir.if"
// CHECK:         linalg.fill {{.*}} outs(%[[C:[a-z0-9]*]] : memref<64x64xf32>)
// CHECK-NEXT:    "hir.library_matmul"(%{{.*}}, %[[R:[a-z0-9]*]], %[[C]], %[[C]]) {compute
// CHECK-NEXT:    linalg.fill {{.*}} outs(%[[C]] : memref<64x64xf32>)
// CHECK-NEXT:    linalg.copy ins(%[[R]] :
// CHECK-NEXT:    "hir.library_matmul"(%{{.*}}, %{{.*}}, %[[C]], %[[C]]) {compute
// CHECK-NEXT:    linalg.copy ins(%[[R]] :
// CHECK-NEXT:    "hir.library_matmul"(%{{.*}}, %[[R]], %{{.*}}) {compute
// CHECK:         sym_name = "branches"
"hir.program"() ({
^bb0(%condition: i1, %a: memref<64x64xf32>):
  %zero = arith.constant 0.0 : f32
  %c = "hir.allocate"() : () -> memref<64x64xf32>
  %d = "hir.allocate"() : () -> memref<64x64xf32>
  %e = "hir.allocate"() : () -> memref<64x64xf32>
  %results = "hir.if"(%condition) ({
    "hir.output"(%c) : (memref<64x64xf32>) -> ()
  }, {
    "hir.output"(%d) : (memref<64x64xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %r = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  linalg.matmul ins(%a, %r : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  linalg.copy ins(%r : memref<64x64xf32>) outs(%e : memref<64x64xf32>)
  linalg.matmul ins(%a, %a : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.fill ins(%zero : f32) outs(%e : memref<64x64xf32>)
  linalg.copy ins(%r : memref<64x64xf32>) outs(%d : memref<64x64xf32>)
  linalg.matmul ins(%a, %r : memref<64x64xf32>, memref<64x64xf32>) outs(%e : memref<64x64xf32>)
}) {sym_name = "branches", function_type = (i1, memref<64x64xf32>) -> ()} : () -> ()

// -----

// What sums nothing is a product of elements.

// SMALL-LABEL: ^bb0(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?x?xf32>):
// SMALL-NOT:     hir.reduce_loops
// SMALL:         sym_name = "elements"
"hir.program"() ({
^bb0(%a: memref<?xf32>, %b: memref<?xf32>, %y: memref<?xf32>, %z: memref<?x?xf32>):
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<?xf32>)
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
    ins(%a, %b : memref<?xf32>, memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%z : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : memref<?xf32>, memref<?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  }
}) {sym_name = "elements", function_type = (memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?x?xf32>) -> ()} : () -> ()

// -----

// Four rows of 16 bits and a large factor: a kernel; eight, which its threads multiply no faster than
// half of them: the library, but of a small factor.

// SMALL-LABEL: "hir.program"()
// SMALL:         "hir.reduce_loops"
// SMALL:         "hir.library_matmul"
// SMALL:         "hir.reduce_loops"
// SMALL-NOT:     "hir.library_matmul"
// SMALL:         sym_name = "few_rows_of_16_bits"
"hir.program"() ({
^bb0(%a: memref<4x4096xbf16>, %b: memref<8x4096xbf16>, %w: memref<4096x4096xbf16>, %v: memref<512x4096xbf16>,
     %c: memref<4x4096xf32>, %d: memref<8x4096xf32>, %e: memref<8x512xf32>):
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x4096xf32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %w : memref<4x4096xbf16>, memref<4096x4096xbf16>) outs(%c : memref<4x4096xf32>)
  linalg.fill ins(%zero : f32) outs(%d : memref<8x4096xf32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%b, %w : memref<8x4096xbf16>, memref<4096x4096xbf16>) outs(%d : memref<8x4096xf32>)
  linalg.fill ins(%zero : f32) outs(%e : memref<8x512xf32>)
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%b, %v : memref<8x4096xbf16>, memref<512x4096xbf16>) outs(%e : memref<8x512xf32>)
}) {sym_name = "few_rows_of_16_bits", function_type = (memref<4x4096xbf16>, memref<8x4096xbf16>, memref<4096x4096xbf16>, memref<512x4096xbf16>, memref<4x4096xf32>, memref<8x4096xf32>, memref<8x512xf32>) -> ()} : () -> ()

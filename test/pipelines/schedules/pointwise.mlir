// RUN: hirc-opt %s --split-input-file -p 'hir-schedule-kernels,hir.launcher(canonicalize,cse),gpu.module(gpu.func(canonicalize,cse))' | FileCheck %s

// Packed buffers are one line of vectors, a thread for each, and one for each element that is left.
// Aligned ones need no more; single elements of any layout come last, and nothing after them.

// CHECK-LABEL: "hir.launcher"()
// CHECK:      ^bb0(%[[X:.*]]: memref<?x?xbf16>, %[[Y:.*]]: memref<?x?xbf16>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
// CHECK:        %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:        arith.andi %[[ADDRESS]], %c15
// CHECK:        "hir.if"
// CHECK:          %[[MORE:.*]] = arith.addi %[[ALL:.*]], %c56
// CHECK:          %[[BLOCKS:.*]] = arith.ceildivui %[[MORE]], %c2048
// CHECK:          "hir.launch"(%[[BLOCKS]]
// CHECK:          kernel = @kernels::@negf_0
// CHECK:        }, {
// CHECK:          kernel = @kernels::@negf_1
// CHECK-NOT:    "hir.if"
// CHECK-NOT:    "hir.launch"
// CHECK-LABEL: gpu.func @negf_0(
// CHECK:         scf.if
// CHECK-NEXT:      arith.muli
// CHECK-NOT:       arith.divui
// CHECK:           {{llvm.load .* -> vector<8xbf16>|cache_hint.v4.b32}}
// CHECK-COUNT-8:   arith.negf
// CHECK:           llvm.store {{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
// CHECK:         } else {
// CHECK:           scf.if
// CHECK:             llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// CHECK-LABEL: gpu.func @negf_1(
// CHECK:         scf.if
// CHECK-COUNT-8:   llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// CHECK-COUNT-8:   llvm.store {{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// CHECK:         } else {
// CHECK:           scf.for
"hir.program"() ({
^bb0(%x: memref<?x?xbf16>, %y: memref<?x?xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : memref<?x?xbf16>) outs(%y : memref<?x?xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %r = arith.negf %a : bf16
    linalg.yield %r : bf16
  }
}) {sym_name = "main", function_type = (memref<?x?xbf16>, memref<?x?xbf16>) -> ()} : () -> ()

// -----

// Vectors are as wide as 16 bytes of the widest operand that has an element for each iteration. What
// does not vary along them is loaded and computed once. Rows of whole vectors: one division.

// CHECK-LABEL: gpu.func @addf_addf_0(
// CHECK:         arith.divui {{.*}} : i32
// CHECK:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:         llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xbf16>
// CHECK:         llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> f64
// CHECK:         arith.truncf {{.*}} : f64 to f32
// CHECK-NOT:     f64
// CHECK:         llvm.store {{.*}} : vector<4xbf16>, !llvm.ptr<1>
"hir.program"() ({
^bb0(%x: memref<64x128xf32>, %bias: memref<128xbf16>, %row: memref<64xf64>, %y: memref<64x128xbf16>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>,
                     affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %bias, %row : memref<64x128xf32>, memref<128xbf16>, memref<64xf64>)
    outs(%y : memref<64x128xbf16>) {
  ^bb0(%a: f32, %b: bf16, %c: f64, %d: bf16):
    %b2 = arith.extf %b : bf16 to f32
    %c2 = arith.truncf %c : f64 to f32
    %s = arith.addf %a, %b2 : f32
    %t = arith.addf %s, %c2 : f32
    %r = arith.truncf %t : f32 to bf16
    linalg.yield %r : bf16
  }
}) {sym_name = "main",
    function_type = (memref<64x128xf32>, memref<128xbf16>, memref<64xf64>, memref<64x128xbf16>) -> ()} : () -> ()

// -----

// Rows of no whole number of vectors: what is packed is read and written as one line all the same,
// and what is not, element by element, with the next row's index past the end of one.

// CHECK-LABEL: gpu.func @addf_0(
// CHECK:         scf.if
// CHECK:           arith.select
// CHECK:           llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4:   llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK:           llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
"hir.program"() ({
^bb0(%x: memref<64x127xf32>, %bias: memref<127xf32>, %y: memref<64x127xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %bias : memref<64x127xf32>, memref<127xf32>) outs(%y : memref<64x127xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
}) {sym_name = "main",
    function_type = (memref<64x127xf32>, memref<127xf32>, memref<64x127xf32>) -> ()} : () -> ()

// -----

// Where a type leaves all strides open, the buffer may be packed, have rows that lie apart, or
// neither: a kernel each.

// CHECK-LABEL: "hir.launcher"()
// CHECK:      ^bb0(%{{.*}}, %{{.*}}, %[[S0:.*]]: index, %[[S1:.*]]: index):
// CHECK:         arith.cmpi eq, %[[S1]], %c1
// CHECK:         arith.cmpi eq, %[[S0]], %c64
// CHECK:         kernel = @kernels::@copy_0
// CHECK:         arith.remui %[[S0]], %c4
// CHECK:         "hir.argument"(%[[S0]])
// CHECK:         kernel = @kernels::@copy_1
// CHECK:         "hir.argument"(%[[S0]])
// CHECK-NEXT:    "hir.argument"(%[[S1]])
// CHECK:         kernel = @kernels::@copy_2
// CHECK-NOT:     "hir.launch"
// CHECK-LABEL: gpu.func @copy_1(
// CHECK:         llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @copy_2(
// CHECK:         llvm.store {{.*}} : f32, !llvm.ptr<1>
"hir.program"() ({
^bb0(%x: memref<64x64xf32>, %y: memref<64x64xf32, strided<[?, ?], offset: ?>>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32, strided<[?, ?], offset: ?>>) {
  ^bb0(%a: f32, %d: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main",
    function_type = (memref<64x64xf32>, memref<64x64xf32, strided<[?, ?], offset: ?>>) -> ()} : () -> ()

// -----

// A row that the region picks is read as a vector; what picks it is computed and checked once. A
// thread takes two, and picks and checks both rows before it reads either.

// CHECK-LABEL: gpu.func @load_0(
// CHECK:         %[[TOKEN:.*]] = llvm.load {{.*}} -> i64
// CHECK:         llvm.load {{.*}} -> i64
// CHECK:         %[[ROW:.*]] = arith.index_cast %[[TOKEN]]
// CHECK:         cf.assert
// CHECK:         cf.assert
// CHECK-NOT:     cf.assert
// CHECK:         arith.muli %[[ROW]], %c128
// CHECK:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT:     memref.load
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-LABEL: gpu.func @load_1(
// CHECK:         memref.load
"hir.program"() ({
^bb0(%tokens: memref<16xi64>, %table: memref<100x128xf32>, %y: memref<16x128xf32>):
  %rows = arith.constant 100 : index
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%tokens : memref<16xi64>) outs(%y : memref<16x128xf32>) {
  ^bb0(%t: i64, %d: f32):
    %row = arith.index_cast %t : i64 to index
    %below = arith.cmpi ult, %row, %rows : index
    cf.assert %below, "no such row"
    %column = linalg.index 1 : index
    %v = memref.load %table[%row, %column] : memref<100x128xf32>
    linalg.yield %v : f32
  }
}) {sym_name = "main",
    function_type = (memref<16xi64>, memref<100x128xf32>, memref<16x128xf32>) -> ()} : () -> ()

// -----

// The program's own memory is aligned: whole vectors of it are the one way.

// CHECK-LABEL: "hir.launcher"()
// CHECK-NOT:     "hir.if"
// CHECK:         kernel = @kernels::@copy_0
// CHECK-NOT:     "hir.if"
// CHECK:         kernel = @kernels::@negf_1
// CHECK:         gpu.func @negf_1(
// CHECK:           vector<4xf32>
// CHECK-NOT:     gpu.func
"hir.program"() ({
  %x = "hir.allocate"() : () -> memref<1000xf32>
  %y = "hir.allocate"() : () -> memref<1000xf32>
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<1000xf32>) {
  ^bb0(%b: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<1000xf32>) outs(%y : memref<1000xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  }
  "hir.deallocate"(%x) : (memref<1000xf32>) -> ()
  "hir.deallocate"(%y) : (memref<1000xf32>) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

// What is added to rows at computed places is read in vectors, and added by one instruction for
// four floats; single elements, of buffers of any strides, by one each.

// CHECK-LABEL: gpu.func @scatter_0(
// CHECK:         llvm.load {{.*}} -> vector<4xf32>
// CHECK:         llvm.load {{.*}} -> i64
// CHECK:         cf.assert
// CHECK-NOT:     cf.assert
// CHECK:         llvm.inline_asm {{.*}}"red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};"
// CHECK-NOT:     llvm.atomicrmw
// CHECK-LABEL: gpu.func @scatter_1(
// CHECK:         llvm.atomicrmw fadd {{.*}} syncscope("device") monotonic
"hir.program"() ({
^bb0(%x: memref<64x32xf32>, %places: memref<64xi64>, %y: memref<9x32xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (0, 0)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %places : memref<64x32xf32>, memref<64xi64>) outs(%y : memref<9x32xf32>) {
  ^bb0(%a: f32, %p: i64, %there: f32):
    %most = arith.constant 9 : i64
    %row = arith.index_cast %p : i64 to index
    %column = linalg.index 1 : index
    %within = arith.cmpi ult, %p, %most : i64
    cf.assert %within, "a place is out of range"
    %r = "hir.scatter"(%there, %a, %row, %column) {kind = "addf"} : (f32, f32, index, index) -> f32
    linalg.yield %r : f32
  }
}) {sym_name = "rows", function_type = (memref<64x32xf32>, memref<64xi64>, memref<9x32xf32>) -> ()} : () -> ()

// -----

// Eight floats of 16 bits likewise. One is added together with its neighbour in a word, to which -0
// is added, where that is an element of the row.

// CHECK-LABEL: gpu.func @scatter_0(
// CHECK:         llvm.load {{.*}} -> vector<8xbf16>
// CHECK-NOT:     llvm.atomicrmw
// CHECK:         llvm.inline_asm {{.*}}"red.relaxed.gpu.global.add.noftz.v8.bf16 [$0], {$1, $2, $3, $4, $5, $6, $7, $8};"
// CHECK-LABEL: gpu.func @scatter_1(
// CHECK:         llvm.atomicrmw fadd {{.*}} syncscope("device") monotonic
// CHECK-LABEL: gpu.func @scatter_2(
// CHECK-SAME:    layout = "packed"
// CHECK:         %[[IS_UPPER:.*]] = arith.cmpi ne, %{{.*}}, %c0_i64 : i64
// CHECK:         %[[OTHER:.*]] = arith.select %[[IS_UPPER]]
// CHECK:         %[[IS_THERE:.*]] = arith.cmpi ult, %[[OTHER]], %c13
// CHECK:         scf.if %[[IS_THERE]] {
// CHECK:           llvm.inline_asm {{.*}}"red.relaxed.gpu.global.add.noftz.v2.f16 [$0], {$1, $2};"
// CHECK:         } else {
// CHECK:           llvm.atomicrmw fadd {{.*}} syncscope("device") monotonic
"hir.program"() ({
^bb0(%x: memref<64x32xbf16>, %places: memref<64xi64>, %y: memref<9x32xbf16>, %u: memref<64x13xf16>, %z: memref<9x13xf16>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (0, 0)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %places : memref<64x32xbf16>, memref<64xi64>) outs(%y : memref<9x32xbf16>) {
  ^bb0(%a: bf16, %p: i64, %there: bf16):
    %row = arith.index_cast %p : i64 to index
    %column = linalg.index 1 : index
    %r = "hir.scatter"(%there, %a, %row, %column) {kind = "addf"} : (bf16, bf16, index, index) -> bf16
    linalg.yield %r : bf16
  }
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (0, 0)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%u, %places : memref<64x13xf16>, memref<64xi64>) outs(%z : memref<9x13xf16>) {
  ^bb0(%a: f16, %p: i64, %there: f16):
    %row = arith.index_cast %p : i64 to index
    %column = linalg.index 1 : index
    %r = "hir.scatter"(%there, %a, %row, %column) {kind = "addf"} : (f16, f16, index, index) -> f16
    linalg.yield %r : f16
  }
}) {sym_name = "halves", function_type = (memref<64x32xbf16>, memref<64xi64>, memref<9x32xbf16>, memref<64x13xf16>, memref<9x13xf16>) -> ()} : () -> ()

// -----

// No vectors of floats: places that differ along the row, and doubles; products, of which there is
// no instruction, are no vectors at all.

// CHECK-LABEL: gpu.func @scatter_0(
// CHECK-NOT:     red.relaxed
// CHECK-COUNT-2: llvm.atomicrmw fadd
// CHECK-LABEL: gpu.func @scatter_2(
// CHECK-NOT:     hir.configuration
// CHECK:         memref.generic_atomic_rmw
"hir.program"() ({
^bb0(%x: memref<64x32xf64>, %places: memref<64x32xi64>, %y: memref<9x32xf64>, %z: memref<9x32xf64>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, 0)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %places : memref<64x32xf64>, memref<64x32xi64>) outs(%y : memref<9x32xf64>) {
  ^bb0(%a: f64, %p: i64, %there: f64):
    %row = arith.index_cast %p : i64 to index
    %column = linalg.index 1 : index
    %r = "hir.scatter"(%there, %a, %row, %column) {kind = "addf"} : (f64, f64, index, index) -> f64
    linalg.yield %r : f64
  }
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, 0)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %places : memref<64x32xf64>, memref<64x32xi64>) outs(%z : memref<9x32xf64>) {
  ^bb0(%a: f64, %p: i64, %there: f64):
    %row = arith.index_cast %p : i64 to index
    %column = linalg.index 1 : index
    %r = "hir.scatter"(%there, %a, %row, %column) {kind = "mulf"} : (f64, f64, index, index) -> f64
    linalg.yield %r : f64
  }
}) {sym_name = "elements", function_type = (memref<64x32xf64>, memref<64x32xi64>, memref<9x32xf64>, memref<9x32xf64>) -> ()} : () -> ()

// -----

// Loops whose indices the region takes stand alone, though memory is one line: a row of an open
// picture is found once for each vector, and where vectors reach into the next row, an element's
// indices are counted from those of the one before it. No element divides.

// CHECK-LABEL: gpu.func @muli_sitofp_0(
// CHECK-SAME:    kernel = "rows"
// CHECK-NOT:     arith.remui
// CHECK:         llvm.store {{.*}} : vector<4xf32>
// CHECK-LABEL: gpu.func @muli_sitofp_1(
// CHECK-SAME:    kernel = "flat"
// CHECK-NOT:     arith.remui
// CHECK:         %[[NEXT:.*]] = arith.addi %{{.*}}, %c1_i32 : i32
// CHECK:         %[[PAST:.*]] = arith.cmpi eq, %[[NEXT]], %{{.*}} : i32
// CHECK:         arith.select %[[PAST]], %c0_i32, %[[NEXT]] : i32
// CHECK-NOT:     arith.remui
// CHECK:         llvm.store {{.*}} : vector<4xf32>
"hir.program"() ({
^bb0(%y: memref<?x?xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
  } outs(%y : memref<?x?xf32>) {
  ^bb0(%d: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.index_cast %i : index to i64
    %column = arith.index_cast %j : index to i64
    %product = arith.muli %row, %column : i64
    %v = arith.sitofp %product : i64 to f32
    linalg.yield %v : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>) -> ()} : () -> ()

// -----

// Neighbours in rows of an odd length would be read one by one for vectors that cross rows: of five
// of one tensor, threads take single elements, which a warp reads side by side; of three, vectors.

// CHECK-LABEL: gpu.func @addf_addf_addf_0(
// CHECK-SAME:    kernel = "single"
// CHECK-LABEL: gpu.func @addf_addf_1
// CHECK-SAME:    kernel = "flat"
"hir.program"() ({
^bb0(%x: memref<64x35xf32>, %y: memref<62x33xf32>, %z: memref<64x33xf32>):
  %n = memref.subview %x[0, 1] [62, 33] [1, 1] : memref<64x35xf32> to memref<62x33xf32, strided<[35, 1], offset: 1>>
  %w = memref.subview %x[1, 0] [62, 33] [1, 1] : memref<64x35xf32> to memref<62x33xf32, strided<[35, 1], offset: 35>>
  %c = memref.subview %x[1, 1] [62, 33] [1, 1] : memref<64x35xf32> to memref<62x33xf32, strided<[35, 1], offset: 36>>
  %e = memref.subview %x[1, 2] [62, 33] [1, 1] : memref<64x35xf32> to memref<62x33xf32, strided<[35, 1], offset: 37>>
  %s = memref.subview %x[2, 1] [62, 33] [1, 1] : memref<64x35xf32> to memref<62x33xf32, strided<[35, 1], offset: 71>>
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                     affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%n, %w, %c, %e, %s : memref<62x33xf32, strided<[35, 1], offset: 1>>,
        memref<62x33xf32, strided<[35, 1], offset: 35>>, memref<62x33xf32, strided<[35, 1], offset: 36>>,
        memref<62x33xf32, strided<[35, 1], offset: 37>>, memref<62x33xf32, strided<[35, 1], offset: 71>>)
    outs(%y : memref<62x33xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %f: f32, %g: f32, %o: f32):
    %p = arith.addf %a, %b : f32
    %q = arith.addf %p, %d : f32
    %r = arith.addf %q, %f : f32
    %t = arith.addf %r, %g : f32
    linalg.yield %t : f32
  }
  %l0 = memref.subview %x[0, 0] [64, 33] [1, 1] : memref<64x35xf32> to memref<64x33xf32, strided<[35, 1]>>
  %l1 = memref.subview %x[0, 1] [64, 33] [1, 1] : memref<64x35xf32> to memref<64x33xf32, strided<[35, 1], offset: 1>>
  %l2 = memref.subview %x[0, 2] [64, 33] [1, 1] : memref<64x35xf32> to memref<64x33xf32, strided<[35, 1], offset: 2>>
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                     affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%l0, %l1, %l2 : memref<64x33xf32, strided<[35, 1]>>, memref<64x33xf32, strided<[35, 1], offset: 1>>,
        memref<64x33xf32, strided<[35, 1], offset: 2>>) outs(%z : memref<64x33xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %p = arith.addf %a, %b : f32
    %q = arith.addf %p, %d : f32
    linalg.yield %q : f32
  }
}) {sym_name = "main", function_type = (memref<64x35xf32>, memref<62x33xf32>, memref<64x33xf32>) -> ()} : () -> ()

// -----

// Elements that are written at computed places, in rows of no whole vectors, are so by neighbouring
// threads, in the order of the updates' memory, whatever the places' is.

// CHECK-LABEL: gpu.func @scatter_0(
// CHECK-SAME:    kernel = "single"
// CHECK:         arith.divui %{{.*}}, %c15_i32
// CHECK:         arith.divui %{{.*}}, %c512_i32
// CHECK:         gpu.return
"hir.program"() ({
^bb0(%x: memref<27x512x15xf32>, %places: memref<27xi64>, %y: memref<27x512x15xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (0, 0, 0)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%places, %x : memref<27xi64>, memref<27x512x15xf32>) outs(%y : memref<27x512x15xf32>) {
  ^bb0(%p: i64, %a: f32, %there: f32):
    %plane = arith.index_cast %p : i64 to index
    %row = linalg.index 1 : index
    %column = linalg.index 2 : index
    %r = "hir.scatter"(%there, %a, %plane, %row, %column) : (f32, f32, index, index, index) -> f32
    linalg.yield %r : f32
  }
}) {sym_name = "planes", function_type = (memref<27x512x15xf32>, memref<27xi64>, memref<27x512x15xf32>) -> ()} : () -> ()

// -----

// Of elements that are read one by one along a row a vector has eight bytes: a warp reads those that
// lie closer together at once. Rows that are read in vectors have sixteen.

// CHECK-LABEL: gpu.func @load_0(
// CHECK-SAME:    width = 2
// CHECK-LABEL: gpu.func @load_2(
// CHECK-SAME:    width = 4
"hir.program"() ({
^bb0(%x: memref<64x64xf32>, %places: memref<128xi32>, %y: memref<512x128xf32>, %rows: memref<512xi32>, %z: memref<512x64xf32>):
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%places : memref<128xi32>) outs(%y : memref<512x128xf32>) {
  ^bb0(%p: i32, %there: f32):
    %column = arith.index_cast %p : i32 to index
    %c3 = arith.constant 3 : index
    %r = memref.load %x[%c3, %column] : memref<64x64xf32>
    linalg.yield %r : f32
  }
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%rows : memref<512xi32>) outs(%z : memref<512x64xf32>) {
  ^bb0(%p: i32, %there: f32):
    %row = arith.index_cast %p : i32 to index
    %column = linalg.index 1 : index
    %r = memref.load %x[%row, %column] : memref<64x64xf32>
    linalg.yield %r : f32
  }
}) {sym_name = "elements_of_rows", function_type = (memref<64x64xf32>, memref<128xi32>, memref<512x128xf32>, memref<512xi32>, memref<512x64xf32>) -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file -p hir-convert-compute-to-linalg | FileCheck %s

// Smaller floats are extended, computed with in f32, and rounded once.

// CHECK-DAG:  #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:  #[[LAST:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG:  #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: "hir.program"()
// CHECK:      ^bb0(%[[X:.*]]: memref<4x8xf16>, %[[ROW:.*]]: memref<8xf16>, %[[COLUMN:.*]]: memref<4x1xf16>,
// CHECK-NOT:    cf.assert
// CHECK:        linalg.generic {indexing_maps = [#[[SAME]], #[[LAST]], #[[SAME]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:     ins(%[[X]], %[[ROW]] :
// CHECK-NEXT:   ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16, %{{.*}}: f16):
// CHECK-NEXT:     %[[WIDE_A:.*]] = arith.extf %[[A]] : f16 to f32
// CHECK-NEXT:     %[[WIDE_B:.*]] = arith.extf %[[B]] : f16 to f32
// CHECK-NEXT:     %[[SUM:.*]] = arith.addf %[[WIDE_A]], %[[WIDE_B]] : f32
// CHECK-NEXT:     %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK-NEXT:     linalg.yield %[[ROUNDED]] : f16
// CHECK:        linalg.generic {indexing_maps = [#[[SAME]], #[[FIRST]], #[[SAME]]]
"hir.program"() ({
^bb0(%x: memref<4x8xf16>, %row: memref<8xf16>, %column: memref<4x1xf16>, %y: memref<4x8xf16>):
  "hir.binary"(%x, %row, %y) {kind = "add"} : (memref<4x8xf16>, memref<8xf16>, memref<4x8xf16>) -> ()
  "hir.binary"(%x, %column, %y) {kind = "mul"} : (memref<4x8xf16>, memref<4x1xf16>, memref<4x8xf16>) -> ()
}) {sym_name = "broadcast",
    function_type = (memref<4x8xf16>, memref<8xf16>, memref<4x1xf16>, memref<4x8xf16>) -> ()} : () -> ()

// -----

// An open size that may be 1 repeats by a stride of 0; messages call inputs by their names.

// CHECK-LABEL: "hir.program"()
// CHECK:      ^bb0(%[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[Z:.*]]: memref<?xf32>):
// CHECK:        %[[X_FITS:.*]] = arith.cmpi eq
// CHECK:        %[[Y_FITS:.*]] = arith.cmpi eq
// CHECK:        cf.assert %{{.*}}, "hir.binary 'sub': 'x' does not broadcast: the size of its dim 0 is neither 1 nor that of dim 0 of the result"
// CHECK:        cf.assert %{{.*}}, "hir.binary 'sub': 'y' does not broadcast: {{.*}}"
// CHECK:        %[[EITHER:.*]] = arith.ori %[[X_FITS]], %[[Y_FITS]]
// CHECK:        cf.assert %[[EITHER]], "hir.binary 'sub': dim 0 of the result must have the size that the operands broadcast to"
// CHECK:        %[[N:.*]] = memref.dim %[[Z]]
// CHECK:        %[[STRIDE:.*]] = arith.select %[[X_FITS]], %c1{{.*}}, %c0{{.*}} : index
// CHECK:        %[[VIEW:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[N]]], strides: [%[[STRIDE]]]
// CHECK:        %[[OTHER:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK:        linalg.generic {{.*}} ins(%[[VIEW]], %[[OTHER]] :
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>):
  "hir.binary"(%x, %y, %z) {kind = "sub"} : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
}) {sym_name = "open", inputs = [{name = "x"}, {name = "y"}, {name = "z"}],
    function_type = (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// Sizes of one name, and of what was allocated by them, are equal: nothing to check.

// CHECK-LABEL: "hir.program"()
// CHECK-NOT:    cf.assert
// CHECK:        linalg.generic
// CHECK-NOT:    cf.assert
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>):
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %z = "hir.allocate"(%n) : (index) -> memref<?xf32>
  "hir.binary"(%x, %y, %z) {kind = "sub"} : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
  "hir.deallocate"(%z) : (memref<?xf32>) -> ()
}) {sym_name = "named", inputs = [{name = "x", sizes = ["n"]}, {name = "y", sizes = ["n"]}],
    function_type = (memref<?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// One operand that cannot repeat is compared, and indexed as it is.

// CHECK-LABEL: "hir.program"()
// CHECK:      ^bb0(%[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>):
// CHECK:        cf.assert %{{.*}}, "hir.unary 'relu': dim 0 of the result must have the size of dim 0 of operand 0"
// CHECK:        linalg.generic {{.*}} ins(%[[X]] : memref<?xf32>) outs(%[[Y]] : memref<?xf32>)
// CHECK:          arith.maximumf
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>):
  "hir.unary"(%x, %y) {kind = "relu"} : (memref<?xf32>, memref<?xf32>) -> ()
}) {sym_name = "alone", function_type = (memref<?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// In place; a constant is repeated in the body, another scalar is an operand; both are converted
// to the buffers' element type.

// CHECK-LABEL: "hir.program"()
// CHECK:      ^bb0(%[[X:.*]]: memref<8xf16>, %[[S:.*]]: f64):
// CHECK:        %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK:        linalg.generic {{.*}} ins(%[[X]] : memref<8xf16>) outs(%[[X]] : memref<8xf16>)
// CHECK-NEXT:   ^bb0(
// CHECK:          arith.truncf %[[HALF]] : f32 to f16
// CHECK:          arith.mulf
// CHECK:        linalg.generic {{.*}} ins(%[[X]], %[[S]] : memref<8xf16>, f64) outs(%[[X]] : memref<8xf16>)
// CHECK-NEXT:   ^bb0(%{{.*}}: f16, %[[IN:.*]]: f64,
// CHECK:          arith.truncf %[[IN]] : f64 to f16
"hir.program"() ({
^bb0(%x: memref<8xf16>, %s: f64):
  %half = arith.constant 0.5 : f32
  "hir.binary"(%x, %half, %x) {kind = "mul"} : (memref<8xf16>, f32, memref<8xf16>) -> ()
  "hir.binary"(%x, %s, %x) {kind = "add"} : (memref<8xf16>, f64, memref<8xf16>) -> ()
}) {sym_name = "scalars", function_type = (memref<8xf16>, f64) -> ()} : () -> ()

// -----

// Unsigned integers are stored as signless ones, and computed with as unsigned.

// CHECK-LABEL: "hir.program"()
// CHECK:        %[[Y:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<8xui8> to memref<8xi8>
// CHECK:        %[[X:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<8xui8> to memref<8xi8>
// CHECK:        linalg.generic {{.*}} ins(%[[X]], %[[X_AGAIN:.*]] : memref<8xi8>, memref<8xi8>) outs(%[[Y]] : memref<8xi8>)
// CHECK:          arith.cmpi ne
// CHECK:          cf.assert %{{.*}}, "'div' of integers divides by 0"
// CHECK:          arith.divui
// CHECK:        linalg.generic
// CHECK:          %[[WIDE:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK-NEXT:     linalg.yield %[[WIDE]] : i32
"hir.program"() ({
^bb0(%x: memref<8xui8>, %y: memref<8xui8>, %f: memref<8xi32>):
  "hir.binary"(%x, %x, %y) {kind = "div"} : (memref<8xui8>, memref<8xui8>, memref<8xui8>) -> ()
  "hir.set"(%x, %f) : (memref<8xui8>, memref<8xi32>) -> ()
}) {sym_name = "unsigned", function_type = (memref<8xui8>, memref<8xui8>, memref<8xi32>) -> ()} : () -> ()

// -----

// tf32 is f32 of which the last bits are rounded away.

// CHECK-LABEL: "hir.program"()
// CHECK:        linalg.generic {{.*}} ins(%{{.*}} : memref<8xf32>) outs(%{{.*}} : memref<8xf32>)
// CHECK:          %[[E:.*]] = math.exp
// CHECK:          arith.bitcast %[[E]] : f32 to i32
// CHECK:          arith.constant -8192 : i32
"hir.program"() ({
^bb0(%x: memref<8xtf32>):
  "hir.unary"(%x, %x) {kind = "exp"} : (memref<8xtf32>, memref<8xtf32>) -> ()
}) {sym_name = "tf32", function_type = (memref<8xtf32>) -> ()} : () -> ()

// -----

// Sums of smaller floats are made in f32 and rounded once, in one operation.

// CHECK-LABEL: "hir.program"()
// CHECK:      ^bb0(%[[X:.*]]: memref<4x8xf16>, %[[Y:.*]]: memref<4xf16>):
// CHECK-NOT:    hir.allocate
// CHECK:        linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]] : memref<4x8xf16>) outs(%[[Y]] : memref<4xf16>)
// CHECK-NEXT:   ^bb0(%[[A:.*]]: f16, %{{.*}}: f16):
// CHECK-NEXT:     %[[WIDE:.*]] = arith.extf %[[A]] : f16 to f32
// CHECK-NEXT:     %[[SUM:.*]] = "hir.reduce_loops"(%[[WIDE]]) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
// CHECK-NEXT:     %[[COUNT:.*]] = arith.constant 8.000000e+00 : f32
// CHECK-NEXT:     %[[MEAN:.*]] = arith.divf %[[SUM]], %[[COUNT]] : f32
// CHECK-NEXT:     %[[ROUNDED:.*]] = arith.truncf %[[MEAN]] : f32 to f16
// CHECK-NEXT:     linalg.yield %[[ROUNDED]] : f16
// CHECK-NOT:    linalg.generic
"hir.program"() ({
^bb0(%x: memref<4x8xf16>, %y: memref<4xf16>):
  "hir.reduce"(%x, %y) {kind = "mean", axes = array<i64: 1>} : (memref<4x8xf16>, memref<4xf16>) -> ()
}) {sym_name = "mean", function_type = (memref<4x8xf16>, memref<4xf16>) -> ()} : () -> ()

// -----

// A dim that is kept has size 1.

// CHECK-DAG:  #[[KEPT:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: "hir.program"()
// CHECK:        linalg.generic {indexing_maps = [#{{.*}}, #[[KEPT]]], {{.*}} outs(%{{.*}} : memref<4x1xf32>)
"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %y: memref<4x1xf32>):
  "hir.reduce"(%x, %y) {kind = "sum", axes = array<i64: 1>, keep_dims} : (memref<4x8xf32>, memref<4x1xf32>) -> ()
}) {sym_name = "sum", function_type = (memref<4x8xf32>, memref<4x1xf32>) -> ()} : () -> ()

// -----

// The place alone is what argmax gives; unsigned integers are compared as such.

// CHECK-LABEL: "hir.program"()
// CHECK:        cf.assert %{{.*}}, "hir.reduce 'argmax' of no elements: a size that it reduces is 0"
// CHECK:        linalg.generic {{.*}} ins(%{{.*}} : memref<4x?xi8>) outs(%{{.*}} : memref<4xi64>)
// CHECK-NEXT:   ^bb0(%[[X:.*]]: i8, %{{.*}}: i64):
// CHECK-NEXT:     %[[FOUND:.*]]:2 = "hir.find_loops"(%[[X]]) {kind = "maxui", loops = array<i64: 1>} : (i8) -> (i8, i64)
// CHECK-NEXT:     linalg.yield %[[FOUND]]#1 : i64
"hir.program"() ({
^bb0(%x: memref<4x?xui8>, %y: memref<4xi64>):
  "hir.reduce"(%x, %y) {kind = "argmax", axes = array<i64: 1>} : (memref<4x?xui8>, memref<4xi64>) -> ()
}) {sym_name = "argmax", function_type = (memref<4x?xui8>, memref<4xi64>) -> ()} : () -> ()

// -----

// Of no elements fmax is -infinity, of nan alone nan.

// CHECK-LABEL: "hir.program"()
// CHECK:        %[[NONE:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK:        linalg.generic
// CHECK:          %[[MOST:.*]] = "hir.reduce_loops"(%{{.*}}) {kind = "maxnumf", loops = array<i64: 1>} : (f32) -> f32
// CHECK-NEXT:     %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK-NEXT:     arith.select %[[NONE]], %[[LEAST]], %[[MOST]] : f32
"hir.program"() ({
^bb0(%x: memref<4x?xf32>, %y: memref<4xf32>):
  "hir.reduce"(%x, %y) {kind = "fmax", axes = array<i64: 1>} : (memref<4x?xf32>, memref<4xf32>) -> ()
}) {sym_name = "fmax", function_type = (memref<4x?xf32>, memref<4xf32>) -> ()} : () -> ()

// -----

// A batch of 1 repeats.

// CHECK-DAG:  #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d1, d3)>
// CHECK-DAG:  #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG:  #[[C:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: "hir.program"()
// CHECK:        cf.assert %{{.*}}, "hir.matmul: dim 1 of operand 1 must have the size of dim 2 of operand 0"
// CHECK:        %[[SUMS:.*]] = "hir.allocate"() : () -> memref<3x4x6xf32>
// CHECK:        linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME:     outs(%[[SUMS]] :
// CHECK:        linalg.generic
// CHECK:          arith.truncf %{{.*}} : f32 to bf16
"hir.program"() ({
^bb0(%a: memref<1x4x?xbf16>, %b: memref<3x?x6xbf16>, %c: memref<3x4x6xbf16>):
  "hir.matmul"(%a, %b, %c) : (memref<1x4x?xbf16>, memref<3x?x6xbf16>, memref<3x4x6xbf16>) -> ()
}) {sym_name = "matmul",
    function_type = (memref<1x4x?xbf16>, memref<3x?x6xbf16>, memref<3x4x6xbf16>) -> ()} : () -> ()

// -----

// The bias is added at the end, in place.

// CHECK-LABEL: "hir.program"()
// CHECK:      ^bb0(%{{.*}}, %{{.*}}, %[[BIAS:.*]]: memref<600xf32>, %[[Y:.*]]: memref<400x600xf32>):
// CHECK:        linalg.generic {{.*}} outs(%[[Y]] :
// CHECK:        linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]}{{.*}} outs(%[[Y]] :
// CHECK:        linalg.generic {{.*}} ins(%[[BIAS]] : memref<600xf32>) outs(%[[Y]] :
// CHECK:          arith.addf
"hir.program"() ({
^bb0(%x: memref<400x800xf32>, %w: memref<600x800xf32>, %b: memref<600xf32>, %y: memref<400x600xf32>):
  "hir.linear"(%x, %w, %b, %y) {operandSegmentSizes = array<i32: 1, 1, 1, 1>, bias}
    : (memref<400x800xf32>, memref<600x800xf32>, memref<600xf32>, memref<400x600xf32>) -> ()
}) {sym_name = "linear",
    function_type = (memref<400x800xf32>, memref<600x800xf32>, memref<600xf32>, memref<400x600xf32>) -> ()} : () -> ()

// -----

// A small product is one operation with its bias and its rounding; operands that repeat are read so.

// CHECK-DAG:  #[[REPEATED:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d1, d3)>
// CHECK-LABEL: "hir.program"()
// CHECK-NOT:    hir.allocate
// CHECK:        linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : memref<4x6xbf16>)
// CHECK:          %[[TERM:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:     %[[SUM:.*]] = "hir.reduce_loops"(%[[TERM]]) {kind = "addf", loops = array<i64: 2>}
// CHECK:          %[[ALL:.*]] = arith.addf %[[SUM]], %{{.*}} : f32
// CHECK-NEXT:     %[[ROUNDED:.*]] = arith.truncf %[[ALL]] : f32 to bf16
// CHECK-NEXT:     linalg.yield %[[ROUNDED]]
// CHECK:        linalg.generic {indexing_maps = [#[[REPEATED]],
// CHECK:          %[[TERM:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:     %[[SUM:.*]] = "hir.reduce_loops"(%[[TERM]]) {kind = "addi", loops = array<i64: 3>}
// CHECK-NEXT:     linalg.yield %[[SUM]]
// CHECK-NOT:    linalg.generic
"hir.program"() ({
^bb0(%x: memref<4x8xbf16>, %w: memref<6x8xbf16>, %b: memref<6xbf16>, %y: memref<4x6xbf16>,
     %a: memref<1x4x5xi32>, %c: memref<3x5x6xi32>, %d: memref<3x4x6xi32>):
  "hir.linear"(%x, %w, %b, %y) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
    : (memref<4x8xbf16>, memref<6x8xbf16>, memref<6xbf16>, memref<4x6xbf16>) -> ()
  "hir.matmul"(%a, %c, %d) : (memref<1x4x5xi32>, memref<3x5x6xi32>, memref<3x4x6xi32>) -> ()
}) {sym_name = "small",
    function_type = (memref<4x8xbf16>, memref<6x8xbf16>, memref<6xbf16>, memref<4x6xbf16>,
                     memref<1x4x5xi32>, memref<3x5x6xi32>, memref<3x4x6xi32>) -> ()} : () -> ()

// -----

// linalg of the program's own stays as it is.

// CHECK-LABEL: "hir.program"()
// CHECK:        linalg.fill
"hir.program"() ({
^bb0(%x: memref<8xf32>, %v: f32):
  linalg.fill ins(%v : f32) outs(%x : memref<8xf32>)
}) {sym_name = "own", function_type = (memref<8xf32>, f32) -> ()} : () -> ()

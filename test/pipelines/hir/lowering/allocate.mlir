// RUN: hirc-opt %s --split-input-file -p convert-hir-to-gpu,canonicalize,cse | FileCheck %s

// Sizes, strides and bytes are computed in line.

// CHECK-LABEL: func.func private @hirc_body_open(
// CHECK-SAME:      %[[N:.*]]: index, %{{.*}}: memref<32x?xf32, strided<[?, ?], offset: ?>>, %[[STREAM:.*]]: !llvm.ptr)
// CHECK-SAME:      origin = "view"
// CHECK:         %[[DEVICE:.*]] = llvm.mlir.constant(0 : i32)
// CHECK:         %[[ELEMENTS:.*]], %[[HIGH:.*]] = arith.mului_extended %[[N]], %c32
// CHECK:         %[[STRIDE:.*]] = arith.maxsi %[[N]], %c1
// CHECK:         %[[BYTES:.*]] = arith.muli %[[ELEMENTS]], %c4
// CHECK:         %[[MANY:.*]] = arith.cmpi ugt, %[[ELEMENTS]], %c2305843009213693951
// CHECK:         %[[WRAPS:.*]] = arith.cmpi ne, %[[HIGH]], %c0
// CHECK:         %[[BEYOND:.*]] = arith.ori %[[MANY]], %[[WRAPS]]
// CHECK:         %[[NEGATIVE:.*]] = arith.cmpi slt, %[[N]], %c0
// CHECK-NEXT:    %[[WRONG:.*]] = arith.ori %[[NEGATIVE]], %[[BEYOND]]
// CHECK-NEXT:    scf.if %[[WRONG]] {
// CHECK:           llvm.call @hirc_refuse(
// CHECK:         %[[SIZE:.*]] = builtin.unrealized_conversion_cast %[[BYTES]] : index to i64
// CHECK:         %[[MEMORY:.*]] = llvm.call @hirc_allocate(%[[SIZE]], %[[DEVICE]], %[[STREAM]], %{{.*}})
// CHECK:         %[[A:.*]] = llvm.insertvalue %[[MEMORY]], %{{.*}}[0]
// CHECK:         llvm.insertvalue %[[MEMORY]], %[[A]][1]
// CHECK:         %[[FIRST:.*]] = builtin.unrealized_conversion_cast %[[N]] : index to i64
// CHECK:         llvm.insertvalue %[[FIRST]], %{{.*}}[3, 0]
// CHECK:         %[[OUTER:.*]] = builtin.unrealized_conversion_cast %[[STRIDE]] : index to i64
// CHECK:         llvm.insertvalue %[[OUTER]], %{{.*}}[4, 1]
"hir.program"() ({
^bb0(%n: index):
  %y = "hir.allocate"(%n) {order = array<i64: 1, 0>} : (index) -> memref<?x32xf32, strided<[1, ?]>>
  %v = "hir.permute"(%y) {order = array<i64: 1, 0>}
    : (memref<?x32xf32, strided<[1, ?]>>) -> memref<32x?xf32, strided<[?, 1]>>
  "hir.output"(%v) : (memref<32x?xf32, strided<[?, 1]>>) -> ()
}) {sym_name = "open", function_type = (index) -> memref<32x?xf32>} : () -> ()

// -----

// What is known is a constant. Elements have their stored type; each kind of memory its number.

// CHECK-LABEL: func.func private @hirc_body_known(
// CHECK-SAME:      %[[AXIS:.*]]: index, %[[STREAM:.*]]: !llvm.ptr)
// CHECK-NOT:     arith.
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(120 : i64)
// CHECK:         %[[KIND:.*]] = llvm.mlir.constant(1 : i32)
// CHECK:         %[[MEMORY:.*]] = llvm.call @hirc_allocate(%[[BYTES]], %[[KIND]], %[[STREAM]], %{{.*}})
// CHECK:         llvm.call @hirc_fill_bytes(%[[MEMORY]], %{{.*}}, %[[BYTES]], %[[STREAM]], %{{.*}})
// CHECK:         to memref<5x5xi32, strided<[6, 1]>>
// CHECK:         memref.dim
// CHECK:         llvm.call @hirc_free(%{{.*}}, %[[KIND]], %[[STREAM]], %{{.*}})
"hir.program"() ({
^bb0(%axis: index):
  %y = "hir.allocate"() {domain = [{split = 1, factor = 3}], memory = "pinned", zero_init}
    : () -> memref<5x5xui32, strided<[6, 1]>>
  %u = builtin.unrealized_conversion_cast %y : memref<5x5xui32, strided<[6, 1]>> to memref<5x5xi32, strided<[6, 1]>>
  %size = memref.dim %u, %axis : memref<5x5xi32, strided<[6, 1]>>
  "hir.deallocate"(%y) : (memref<5x5xui32, strided<[6, 1]>>) -> ()
  "hir.output"(%size) : (index) -> ()
}) {sym_name = "known", function_type = (index) -> index} : () -> ()

// -----

// An output is the caller's buffer where one was handed in, with its own strides.

// CHECK-DAG:   "the buffer handed in for output 'y' has size %lld of axis 0, where the program gives %lld\00"
// CHECK-LABEL: func.func private @hirc_body_output(
// CHECK-SAME:      %[[N:.*]]: index, %[[GIVEN:.*]]: memref<?x8xf32, strided<[?, ?], offset: ?>>, %[[STREAM:.*]]: !llvm.ptr)
// CHECK-SAME:      -> memref<?x8xf32, strided<[?, ?], offset: ?>>
// CHECK-SAME:      hir.inputs = [{alignment = 1 : i64, name = "input0", type = index}]
// CHECK-SAME:      hir.outputs = [{name = "y", origin = "allocated", sizes = ["", 8], type = memref<?x8xf32>}]
// CHECK:         %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[GIVEN]]
// CHECK:         %[[PRESENT:.*]] = arith.cmpi ne, %[[ADDRESS]], %{{.*}} : index
// CHECK:         %[[BUFFER:.*]]:3 = scf.if %[[PRESENT]] -> (!llvm.ptr, index, index) {
// CHECK:           %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[GIVEN]]
// CHECK:           arith.cmpi ne, %[[SIZES]]#0, %[[N]]
// CHECK:           llvm.call @hirc_refuse(
// CHECK:           %[[FIRST:.*]] = llvm.getelementptr
// CHECK:           llvm.call @hirc_zero_strided(%[[FIRST]], %{{.*}}, %[[STREAM]], %{{.*}})
// CHECK:           scf.yield %[[FIRST]], %[[STRIDES]]#0, %[[STRIDES]]#1
// CHECK:         } else {
// CHECK:           %[[MEMORY:.*]] = llvm.call @hirc_allocate(
// CHECK:           llvm.call @hirc_fill_bytes(%[[MEMORY]],
// CHECK:           scf.yield %[[MEMORY]], %{{.*}}, %{{.*}} : !llvm.ptr, index, index
// CHECK:         llvm.insertvalue %[[BUFFER]]#0, %{{.*}}[1]
// CHECK-NOT:     hirc_free
"hir.program"() ({
^bb0(%n: index):
  %y = "hir.allocate"(%n) {output = 0 : i64, zero_init}
    : (index) -> memref<?x8xf32, strided<[?, ?], offset: ?>>
  "hir.output"(%y) {name = "y"} : (memref<?x8xf32, strided<[?, ?], offset: ?>>) -> ()
}) {sym_name = "output", function_type = (index) -> memref<?x8xf32>} : () -> ()

// -----

// Where the type says strides, the caller's buffer is to have them.

// CHECK-DAG:   "the buffer handed in for output 'output0': stride %lld of axis 1, where the program takes %lld; hir.set makes a packed copy\00"
// CHECK-LABEL: func.func private @hirc_body_packed_output(
// CHECK:         scf.if %{{.*}} -> (!llvm.ptr) {
// CHECK:           %{{.*}}, %{{.*}}, %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK:           arith.cmpi ne, %[[STRIDES]]#0, %c8
// CHECK:           arith.cmpi ne, %[[STRIDES]]#1, %c1
"hir.program"() ({
  %y = "hir.allocate"() : () -> memref<4x8xf32>
  "hir.output"(%y) : (memref<4x8xf32>) -> ()
}) {sym_name = "packed_output", function_type = () -> memref<4x8xf32>} : () -> ()

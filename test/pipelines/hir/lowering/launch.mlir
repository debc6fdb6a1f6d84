// RUN: hirc-opt %s -p convert-hir-to-gpu,canonicalize,cse | FileCheck %s

gpu.module @kernels {
  gpu.func @scale(%x: memref<?xf32, strided<[?], offset: ?>>, %n: index) kernel { gpu.return }
  gpu.func @packed(%x: memref<4xi8>) kernel { gpu.return }
}
"hir.kernel"() {sym_name = "big", function = @kernels::@scale, cluster = array<i64: 2, 1, 1>, shared_bytes = 512 : i64} : () -> ()

// What is launched has its kernel's types. An open grid may be empty, and is then not launched.

// CHECK-LABEL: func.func private @hirc_body_main(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[U:.*]]: memref<4xi8, strided<[?], offset: ?>>, %[[STREAM:.*]]: !llvm.ptr)
// CHECK:         %[[SOME:.*]] = arith.cmpi ne, %[[N]], %c0
// CHECK-NEXT:    scf.if %[[SOME]] {
// CHECK-NEXT:      %[[OPEN:.*]] = memref.cast %[[X]] : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
// CHECK-NEXT:      %[[TOKEN:.*]] = builtin.unrealized_conversion_cast %[[STREAM]] : !llvm.ptr to !gpu.async.token
// CHECK-NEXT:      gpu.launch_func async [%[[TOKEN]]] @kernels::@scale blocks in (%[[N]], %c1{{.*}}, %c1{{.*}}) threads in (%c64{{.*}}, %c1{{.*}}, %c1{{.*}}) args(%[[OPEN]] : memref<?xf32, strided<[?], offset: ?>>, %[[N]] : index)
// CHECK-NEXT:    }
// CHECK:         %[[SIDE:.*]] = llvm.call @hirc_stream_named(
// CHECK:         %[[TOKEN:.*]] = builtin.unrealized_conversion_cast %[[SIDE]] : !llvm.ptr to !gpu.async.token
// CHECK:         gpu.launch_func async [%[[TOKEN]]] @kernels::@scale clusters in (%c2{{.*}}, %c1{{.*}}, %c1{{.*}}) blocks in (%c64{{.*}}, %c1{{.*}}, %c1{{.*}}) threads in (%c64{{.*}}, %c1{{.*}}, %c1{{.*}}) dynamic_shared_memory_size %c512_i32 args(
// CHECK:         memref.extract_strided_metadata %[[U]]
// CHECK:         llvm.call @hirc_refuse(
// CHECK:         %[[PACKED:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<4xi8>
// CHECK:         gpu.launch_func async [%{{.*}}] @kernels::@packed {{.*}} args(%[[PACKED]] : memref<4xi8>) {hir.overlaps}
// CHECK-NOT:     gpu.launch_func
// CHECK-NOT:   hir.kernel
"hir.program"() ({
^bb0(%x: memref<?xf32>, %n: index, %u: memref<4xui8, strided<[?], offset: ?>>):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %threads = arith.constant 64 : index
  %bytes = arith.constant 512 : index
  "hir.launch"(%n, %one, %one, %threads, %one, %one, %zero) ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
    "hir.argument"(%n) : (index) -> ()
  }) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  "hir.launch"(%threads, %one, %one, %threads, %one, %one, %bytes, %side) ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
    "hir.argument"(%n) : (index) -> ()
  }) {kernel = @big} : (index, index, index, index, index, index, index, !hir.stream_t) -> ()
  "hir.launch"(%one, %one, %one, %threads, %one, %one, %zero) ({
    "hir.argument"(%u) : (memref<4xui8, strided<[?], offset: ?>>) -> ()
  }) {kernel = @kernels::@packed, overlaps} : (index, index, index, index, index, index, index) -> ()
  "hir.launch"(%one, %zero, %one, %threads, %one, %one, %zero) ({
    "hir.argument"(%u) : (memref<4xui8, strided<[?], offset: ?>>) -> ()
  }) {kernel = @kernels::@packed} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<?xf32>, index, memref<4xui8, strided<[?], offset: ?>>) -> ()} : () -> ()

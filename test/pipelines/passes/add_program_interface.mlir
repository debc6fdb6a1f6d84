// RUN: hirc-opt %s --add-program-interface --split-input-file | FileCheck %s
// RUN: hirc-opt %s --add-program-interface=executable=false --split-input-file | FileCheck %s --check-prefix=LIBRARY

// The size of the second input is that of the first one: dim 0 of value 0.
// CHECK-DAG:     llvm.mlir.global internal constant @hirc_inputs_firsts_1_main(dense<0> : tensor<2xi64>)
// CHECK-NOT:     _firsts_
// The C function has its tensors checked, and hands the body memrefs made of them.
// CHECK-LABEL: llvm.func @hirc_program_main(
// CHECK-NEXT:    %[[GUARDED:.*]] = llvm.mlir.addressof @hirc_guarded_main
// CHECK-NEXT:    %[[STATUS:.*]] = llvm.call @hirc_guard(%[[GUARDED]], %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NEXT:    llvm.return %[[STATUS]]
// CHECK-LABEL: llvm.func @hirc_guarded_main(
// CHECK-SAME:      %[[INPUTS:.*]]: !llvm.ptr, %[[OUTPUTS:.*]]: !llvm.ptr, %[[STREAM:.*]]: !llvm.ptr) -> i32
// CHECK-SAME:      no_inline
// CHECK:         %[[HOME:.*]] = llvm.call @hirc_memory_device(%{{.*}}) : (!llvm.ptr) -> i64
// CHECK-NEXT:    %[[INFO:.*]] = llvm.mlir.addressof @hirc_program_main_info
// CHECK-NEXT:    %[[WRONG:.*]] = llvm.call @hirc_call_refused(%[[INFO]], %[[INPUTS]], %[[OUTPUTS]], %[[HOME]])
// CHECK:         cf.cond_br %{{.*}}, ^[[REFUSED:bb[0-9]+]], ^[[READY:bb[0-9]+]]
// CHECK:       ^[[REFUSED]]:
// CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT:    llvm.return %[[ONE]]
// CHECK:       ^[[READY]]:
// CHECK:         %[[A:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xf32>
// CHECK:         %[[GIVEN:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xf32, strided<[?], offset: ?>>
// A library's caller brings the tensors along, a command has copied them.
// CHECK-NOT:     hirc_call_begins
// CHECK:         %[[RESULT:.*]]:2 = func.call @hirc_body_main(%[[A]], %{{.*}}, %{{.*}}, %[[GIVEN]], %[[STREAM]])
// An output that was not handed in is filled in, the scalar written to where the caller wants it.
// CHECK:         scf.if
// CHECK:           builtin.unrealized_conversion_cast %[[RESULT]]#0
// CHECK:         llvm.store %[[RESULT]]#1, %{{.*}} : i64
// CHECK:       llvm.mlir.global external constant @hirc_program_main_info
// CHECK:       llvm.mlir.global external hidden constant @hirc_listed_main() {{.*}}section = "hirc_listed"
// CHECK:       llvm.func @main(%[[ARGC:.*]]: i32, %[[ARGV:.*]]: !llvm.ptr) -> i32
// CHECK:         llvm.call @hirc_command(%[[ARGC]], %[[ARGV]], %{{.*}}, %{{.*}})
// The call brings along what a library exports besides.
// LIBRARY-NOT: @main
// LIBRARY:     llvm.call @hirc_call_begins(
// LIBRARY-NOT: @main
func.func private @hirc_body_main(%x: memref<?xf32>, %z: memref<?xf32, strided<[?]>>, %k: index,
    %y: memref<?xf32, strided<[?], offset: ?>>, %stream: !llvm.ptr)
    -> (memref<?xf32, strided<[?], offset: ?>>, i64)
    attributes {hir.inputs = [{name = "x", sizes = ["n"], type = memref<?xf32>},
                              {name = "z", sizes = ["n"], type = memref<?xf32, strided<[?]>>},
                              {name = "k", type = index}],
                hir.outputs = [{name = "y", type = memref<?xf32>, origin = "allocated"},
                               {name = "count", type = i64}]} {
  %count = arith.index_cast %k : index to i64
  return %y, %count : memref<?xf32, strided<[?], offset: ?>>, i64
}

// -----

// An entry that takes buffers becomes a program: its work starts when the caller's stream is done.
// CHECK-LABEL: func.func private @hirc_entry_main(
// CHECK:       func.func private @hirc_body_main(%[[X:.*]]: memref<4xf32>, %[[STREAM:.*]]: !llvm.ptr) -> memref<4xf32>
// CHECK-SAME:      hir.inputs = [{name = "x", type = memref<4xf32>}]
// CHECK-NEXT:    llvm.call @cudaStreamSynchronize(%[[STREAM]])
// CHECK:         %[[Y:.*]] = call @hirc_entry_main(%[[X]])
// CHECK-NEXT:    return %[[Y]] : memref<4xf32>
// CHECK:       llvm.func @hirc_program_main(
// CHECK:       llvm.func @main(
// LIBRARY-LABEL: func.func @main(%
// LIBRARY:       func.func private @hirc_body_main(
// LIBRARY:         call @main(
func.func @main(%x: memref<4xf32> {hir.name = "x"}) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// -----

// One that takes nothing is add-entry-point's.
// CHECK-LABEL: func.func @main() -> i32
// CHECK-NOT:   hirc_
// LIBRARY-LABEL: func.func @main() -> i32
// LIBRARY-NOT: hirc_
func.func @main() -> i32 {
  %status = arith.constant 3 : i32
  return %status : i32
}

// -----

// No function of another name is a program, and a library's entry of a type that no caller can pass
// stays what it is.
// LIBRARY-LABEL: func.func @other(
// LIBRARY-NOT:   hirc_
// CHECK-LABEL:   func.func @other(
// CHECK-NOT:     hirc_
func.func @other(%x: memref<4xf32>) {
  return
}

// -----

// LIBRARY-LABEL: func.func private @main(
// LIBRARY-NOT:   hirc_
func.func private @main(%x: memref<4xf32>)

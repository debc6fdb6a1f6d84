// RUN: hirc-opt %s --add-program-interface --split-input-file | FileCheck %s
// RUN: hirc-opt %s --add-program-interface=executable=false --split-input-file | FileCheck %s --check-prefix=LIBRARY

// The C function compares, branches once, and hands the body memrefs made of the tensors. Rank,
// element code (2: float), bits (32) and lanes are one number: 1 | 2 << 32 | 32 << 40 | 1 << 48.
// CHECK-LABEL: llvm.func @hirc_program_main(
// CHECK-NEXT:    %[[GUARDED:.*]] = llvm.mlir.addressof @hirc_guarded_main
// CHECK-NEXT:    %[[STATUS:.*]] = llvm.call @hirc_guard(%[[GUARDED]], %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NEXT:    llvm.return %[[STATUS]]
// CHECK-LABEL: llvm.func @hirc_guarded_main(
// CHECK-SAME:      %[[INPUTS:.*]]: !llvm.ptr, %[[OUTPUTS:.*]]: !llvm.ptr, %[[STREAM:.*]]: !llvm.ptr) -> i32
// CHECK-SAME:      no_inline
// CHECK:         %[[HOME:.*]] = llvm.call @hirc_memory_device(%{{.*}}) : (!llvm.ptr) -> i64
// CHECK:         %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[WORD:.*]] = llvm.getelementptr %[[X]][16]
// CHECK-NEXT:    %[[FOUND:.*]] = llvm.load %[[WORD]] : !llvm.ptr -> i64
// CHECK-NEXT:    %[[WANTED:.*]] = llvm.mlir.constant(316667938734081 : i64)
// CHECK-NEXT:    %[[FAULT:.*]] = arith.xori %[[FOUND]], %[[WANTED]]
// CHECK:         %[[OTHER:.*]] = arith.cmpi ne, %[[FAULT]], %{{.*}}
// Sizes are read where there are as many as the program takes, and else from zeros.
// CHECK:         %[[ZEROS:.*]] = llvm.mlir.addressof @hirc_zero_sizes
// CHECK:         %[[SHAPE:.*]] = llvm.select %[[OTHER]], %[[ZEROS]], %{{.*}}
// CHECK:         %[[SIZE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK:         arith.xori %{{.*}}, %[[HOME]] : i64
// The second input's size has the same name.
// CHECK:         arith.xori %{{.*}}, %[[SIZE]] : i64
// The output's bytes are nobody else's.
// CHECK-COUNT-4: arith.subi %{{.*}} : i64
// CHECK:         cf.cond_br %{{.*}}, ^[[WRONG:bb[0-9]+]], ^[[RIGHT:bb[0-9]+]]
// Where one is not on the device of what the program allocates, the library knows.
// CHECK:       ^[[RIGHT]]:
// CHECK:         cf.cond_br %{{.*}}, ^[[AWAY:bb[0-9]+]], ^[[HERE:bb[0-9]+]]
// CHECK:       ^[[AWAY]]:
// CHECK:         llvm.call @hirc_devices_refused(%{{.*}}, %[[INPUTS]], %[[OUTPUTS]])
// CHECK:         cf.cond_br %{{.*}}, ^[[WRONG]], ^[[HERE]]
// CHECK:       ^[[HERE]]:
// CHECK:         cf.cond_br %{{.*}}, ^[[ASK:bb[0-9]+]], ^[[READY:bb[0-9]+]]
// CHECK:       ^[[ASK]]:
// CHECK:         llvm.call @hirc_outputs_repeat(%{{.*}}, %[[OUTPUTS]])
// CHECK:         cf.cond_br %{{.*}}, ^[[WRONG]], ^[[READY]]
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
// CHECK:       ^[[WRONG]]:
// CHECK-NEXT:    %[[INFO:.*]] = llvm.mlir.addressof @hirc_program_main_info
// CHECK-NEXT:    llvm.call @hirc_input_error(%[[INFO]], %[[INPUTS]], %[[OUTPUTS]])
// CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT:    llvm.return %[[ONE]]
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

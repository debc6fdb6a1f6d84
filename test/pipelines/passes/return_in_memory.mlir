// RUN: hirc-opt %s -p return-in-memory | FileCheck %s

!nine = !llvm.struct<(i64, ptr, struct<(ptr, array<2 x i64>)>, i64, i64, i64, i64, i64, i64)>

// Members that were put together for the return are stored; what a caller takes apart is loaded.

// CHECK-LABEL: llvm.func @many(
// CHECK-SAME:    %[[X:.*]]: i64, %[[P:.*]]: !llvm.ptr, %[[ALL:.*]]: !llvm.struct<{{.*}}>, %[[TO:.*]]: !llvm.ptr) attributes
// CHECK-DAG:     %[[AT1:.*]] = llvm.getelementptr %[[TO]][16]
// CHECK-DAG:     llvm.store %[[P]], %[[AT1]] : !llvm.ptr
// CHECK-DAG:     %[[INNER:.*]] = llvm.extractvalue %[[ALL]][2]
// CHECK-DAG:     %[[AT2:.*]] = llvm.getelementptr %[[TO]][32]
// CHECK-DAG:     llvm.store %[[INNER]], %[[AT2]]
// CHECK-DAG:     %[[AT3:.*]] = llvm.getelementptr %[[TO]][80]
// CHECK-DAG:     llvm.store %[[X]], %[[AT3]] : i64
// CHECK:         llvm.return
// CHECK-NEXT:  }
llvm.func @many(%x: i64, %p: !llvm.ptr, %all: !nine) -> !nine attributes {sym_visibility = "private"} {
  %a = llvm.insertvalue %x, %all[3] : !nine
  %b = llvm.insertvalue %p, %a[1] : !nine
  llvm.return %b : !nine
}

// CHECK-LABEL: llvm.func @caller(
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(176 : i64)
// CHECK:         %[[MEMORY:.*]] = llvm.alloca %[[BYTES]] x i8 {alignment = 16 : i64}
// CHECK:         llvm.call @many({{.*}}, %[[MEMORY]])
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[MEMORY]][32]
// CHECK:         %[[MEMBER:.*]] = llvm.load %[[AT]] : !llvm.ptr -> !llvm.struct<(ptr, array<2 x i64>)>
// CHECK:         %[[SIZE:.*]] = llvm.extractvalue %[[MEMBER]][1, 1]
// CHECK:         llvm.return %[[SIZE]]
llvm.func @caller(%x: i64, %p: !llvm.ptr, %all: !nine) -> i64 {
  %given = llvm.call @many(%x, %p, %all) : (i64, !llvm.ptr, !nine) -> !nine
  %size = llvm.extractvalue %given[2, 1, 1] : !nine
  llvm.return %size : i64
}

// A function that others see stays as it is, and so does one of few results.

// CHECK-LABEL: llvm.func @seen(
// CHECK-SAME:    -> !llvm.struct
llvm.func @seen(%all: !nine) -> !nine {
  llvm.return %all : !nine
}

// CHECK-LABEL: llvm.func @few(
// CHECK-SAME:    -> !llvm.struct<(i64, i64)>
llvm.func @few(%all: !llvm.struct<(i64, i64)>) -> !llvm.struct<(i64, i64)> attributes {sym_visibility = "private"} {
  llvm.return %all : !llvm.struct<(i64, i64)>
}

// One whose address stands in a table is called by that.

// CHECK-LABEL: llvm.func @in_a_table(
// CHECK-SAME:    -> !llvm.struct
llvm.mlir.global internal constant @table() : !llvm.ptr {
  %0 = llvm.mlir.addressof @in_a_table : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
llvm.func @in_a_table(%all: !nine) -> !nine attributes {sym_visibility = "private"} {
  llvm.return %all : !nine
}

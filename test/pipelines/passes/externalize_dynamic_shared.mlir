// RUN: hirc-opt %s -p 'gpu.module(externalize-dynamic-shared)' | FileCheck %s

// Only what has no size is sized at launch.
// CHECK: llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.mlir.global internal @static() {addr_space = 3 : i32} : !llvm.array<4 x i8>
// CHECK: llvm.mlir.global internal @elsewhere() {addr_space = 1 : i32} : !llvm.array<0 x i8>
gpu.module @m {
  llvm.mlir.global internal @dynamic() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global internal @static() {addr_space = 3 : i32} : !llvm.array<4 x i8>
  llvm.mlir.global internal @elsewhere() {addr_space = 1 : i32} : !llvm.array<0 x i8>
}

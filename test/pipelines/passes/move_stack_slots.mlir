// RUN: hirc-opt %s -p 'gpu.module(move-stack-slots)' | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: llvm.func @slots
  // CHECK:         %[[PRIVATE:.*]] = llvm.alloca %{{.*}} x f32 {alignment = 16 : i64} : (i64) -> !llvm.ptr<5>
  // CHECK:         %[[SLOT:.*]] = llvm.addrspacecast %[[PRIVATE]] : !llvm.ptr<5> to !llvm.ptr
  // CHECK:         llvm.store %{{.*}}, %[[SLOT]] : f32, !llvm.ptr
  // One that is there already stays.
  // CHECK:         %[[OTHER:.*]] = llvm.alloca %{{.*}} x f32 : (i64) -> !llvm.ptr<5>
  // CHECK-NOT:     llvm.addrspacecast
  llvm.func @slots(%x: f32, %count: i64) {
    %slot = llvm.alloca %count x f32 {alignment = 16 : i64} : (i64) -> !llvm.ptr
    llvm.store %x, %slot : f32, !llvm.ptr
    %other = llvm.alloca %count x f32 : (i64) -> !llvm.ptr<5>
    llvm.store %x, %other : f32, !llvm.ptr<5>
    llvm.return
  }
}

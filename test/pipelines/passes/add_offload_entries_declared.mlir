// RUN: hirc-opt %s --add-offload-entries=unit=1f2e --split-input-file | FileCheck %s

// Outlining copies a host declaration into the kernels' gpu.modules. The first one gets the
// variable's storage, the others name the same variable.
// CHECK-LABEL: gpu.module @first
// CHECK:         memref.get_global @first__hits__1f2e
// CHECK:         memref.global @first__hits__1f2e : memref<4xi32> = uninitialized
// CHECK-LABEL: gpu.module @second
// CHECK:         memref.get_global @first__hits__1f2e
// CHECK:         memref.global @first__hits__1f2e : memref<4xi32>{{$}}
// CHECK:       "offload.entry"() {device_name = "first__hits__1f2e", host = @hits, kind = "global", size = 16 : i64}
// CHECK-NOT:   offload.entry
module attributes {gpu.container_module} {
  memref.global "private" @hits : memref<4xi32>
  gpu.module @first {
    func.func @use() {
      %0 = memref.get_global @hits : memref<4xi32>
      return
    }
    memref.global "private" @hits : memref<4xi32>
  }
  gpu.module @second {
    func.func @use() {
      %0 = memref.get_global @hits : memref<4xi32>
      return
    }
    memref.global "private" @hits : memref<4xi32>
  }
}

// -----

// Where one defines it, that one has the storage.
// CHECK-LABEL: gpu.module @declares
// CHECK:         memref.global @defines__hits__1f2e : memref<4xi32>{{$}}
// CHECK-LABEL: gpu.module @defines
// CHECK:         memref.global @defines__hits__1f2e : memref<4xi32> = dense<7>
// CHECK:       "offload.entry"() {device_name = "defines__hits__1f2e", host = @hits, kind = "global", size = 16 : i64}
module attributes {gpu.container_module} {
  memref.global "private" @hits : memref<4xi32>
  gpu.module @declares {
    memref.global "private" @hits : memref<4xi32>
  }
  gpu.module @defines {
    memref.global @hits : memref<4xi32> = dense<7>
  }
}

// -----

// LLVM's declarations are given zeros.
// CHECK-LABEL: gpu.module @m
// CHECK:         llvm.mlir.global external @m__table__1f2e() {addr_space = 1 : i32} : !llvm.array<3 x i16> {
// CHECK-NEXT:      %[[ZERO:.*]] = llvm.mlir.zero : !llvm.array<3 x i16>
// CHECK-NEXT:      llvm.return %[[ZERO]]
module attributes {gpu.container_module} {
  llvm.mlir.global external @table() : !llvm.array<3 x i16>
  gpu.module @m {
    llvm.mlir.global external @table() {addr_space = 1 : i32} : !llvm.array<3 x i16>
  }
}

// -----

// A declaration that the host has none of stays one, and is visible: LLVM's linker resolves it,
// or it is reported. Constants of the host may be copied; so may names be equal by chance.
// CHECK-LABEL: gpu.module @m
// CHECK:         memref.global @elsewhere : memref<4xi32>{{$}}
// CHECK:         memref.global "private" @tile : memref<4xi32, 3>
// CHECK:         memref.global "private" constant @table : memref<2xi32> = dense<3>
// CHECK:         memref.global "private" @same_name : memref<2xi32> = dense<5>
// CHECK-NOT:   offload.entry
module attributes {gpu.container_module} {
  memref.global "private" constant @table : memref<2xi32> = dense<3>
  memref.global "private" @same_name : memref<2xi32> = dense<4>
  gpu.module @m {
    memref.global "private" @elsewhere : memref<4xi32>
    memref.global "private" @tile : memref<4xi32, 3>
    memref.global "private" constant @table : memref<2xi32> = dense<3>
    memref.global "private" @same_name : memref<2xi32> = dense<5>
  }
}

// -----

// The size of a variable that is not shared does not matter.
// CHECK-LABEL: gpu.module @m
// CHECK:         llvm.mlir.global internal constant @pair
// CHECK-NOT:   offload.entry
module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.mlir.global internal constant @pair() : !llvm.struct<(i32, f32)> {
      %0 = llvm.mlir.zero : !llvm.struct<(i32, f32)>
      llvm.return %0 : !llvm.struct<(i32, f32)>
    }
  }
}

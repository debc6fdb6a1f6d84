// RUN: hirc-opt %s --add-offload-entries=unit=1f2e --split-input-file | FileCheck %s

// A kernel has a one-byte stub on the host, whose address stands for it.
// CHECK: llvm.mlir.global internal constant @work_stub(0 : i8)
// CHECK: "offload.entry"() {device_name = "work", host = @work_stub, kind = "kernel", size = 0 : i64}
// CHECK-NOT: offload.entry
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @work() kernel {
      gpu.return
    }
    gpu.func @no_kernel() {
      gpu.return
    }
  }
}

// -----

// A variable that the host declares and a gpu.module defines is shared. The host's declaration
// becomes the shadow, memory of the variable's size; uses on the host get the device address.
// CHECK-DAG: llvm.mlir.global internal @counts() {{.*}}alignment = 16
// CHECK-DAG: llvm.mlir.global internal @factors(

// CHECK-LABEL: gpu.module @m
// CHECK:   memref.global @m__counts__1f2e : memref<4xi32> = dense<0>
// CHECK:   memref.global constant @m__factors__1f2e : memref<2xf64, #gpu.address_space<constant>>
// Variables the host does not declare, or that are not in memory it can reach, stay as they are.
// CHECK:   memref.global @own : memref<4xi32> = dense<0>
// CHECK:   memref.global "private" @scratch : memref<4xi32, #gpu.address_space<workgroup>>
// CHECK:   memref.get_global @m__counts__1f2e
// CHECK:   memref.get_global @own

// CHECK-LABEL: func.func @read()
// CHECK:   %[[SLOT:.*]] = llvm.alloca
// CHECK:   %[[SHADOW:.*]] = llvm.mlir.addressof @counts
// CHECK:   %[[CODE:.*]] = llvm.call @cudaGetSymbolAddress(%[[SLOT]], %[[SHADOW]])
// CHECK:   llvm.call @hirc_check(%[[CODE]],
// CHECK:   %[[ADDRESS:.*]] = llvm.load %[[SLOT]]
// CHECK:   %[[BUFFER:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<4xi32>
// CHECK:   return %[[BUFFER]]

// CHECK: "offload.entry"() {device_name = "m__counts__1f2e", host = @counts, kind = "global", size = 16 : i64}
// CHECK: "offload.entry"() {device_name = "m__factors__1f2e", host = @factors, kind = "constant", size = 16 : i64}
// CHECK-NOT: offload.entry
module attributes {gpu.container_module} {
  memref.global "private" @counts : memref<4xi32>
  memref.global "private" @factors : memref<2xf64, #gpu.address_space<constant>>
  memref.global "private" @host_only : memref<4xi32> = dense<1>
  gpu.module @m {
    memref.global @counts : memref<4xi32> = dense<0>
    memref.global constant @factors : memref<2xf64, #gpu.address_space<constant>> = dense<[1.0, 2.0]>
    memref.global @own : memref<4xi32> = dense<0>
    memref.global "private" @scratch : memref<4xi32, #gpu.address_space<workgroup>>
    func.func @use() {
      %0 = memref.get_global @counts : memref<4xi32>
      %1 = memref.get_global @own : memref<4xi32>
      return
    }
  }
  func.func @read() -> memref<4xi32> {
    %0 = memref.get_global @counts : memref<4xi32>
    return %0 : memref<4xi32>
  }
}

// -----

// LLVM's globals are shared likewise; the size comes from the type.
// CHECK: llvm.mlir.global external @m__table__1f2e
// CHECK: "offload.entry"() {device_name = "m__table__1f2e", host = @table, kind = "global", size = 24 : i64}
// CHECK: "offload.entry"() {device_name = "m__address__1f2e", host = @address, kind = "constant", size = 8 : i64}
// CHECK: "offload.entry"() {device_name = "m__lanes__1f2e", host = @lanes, kind = "global", size = 16 : i64}
module attributes {gpu.container_module} {
  llvm.mlir.global external @table() : !llvm.array<3 x array<4 x i16>>
  llvm.mlir.global external @address() : !llvm.ptr
  llvm.mlir.global external @lanes() : vector<4xf32>
  gpu.module @m {
    llvm.mlir.global external @table(dense<0> : tensor<3x4xi16>) {addr_space = 1 : i32} : !llvm.array<3 x array<4 x i16>>
    llvm.mlir.global external @address() {addr_space = 4 : i32} : !llvm.ptr {
      %0 = llvm.mlir.zero : !llvm.ptr
      llvm.return %0 : !llvm.ptr
    }
    llvm.mlir.global external @lanes(dense<0.0> : vector<4xf32>) {addr_space = 1 : i32} : vector<4xf32>
    llvm.mlir.global internal @shared() {addr_space = 3 : i32} : !llvm.array<4 x i8>
  }
}

// -----

// A variable's name is no kernel's.
// CHECK: "offload.entry"() {device_name = "m__work__1f2e", host = @m__work__1f2e_stub, kind = "kernel", size = 0 : i64}
// CHECK: "offload.entry"() {device_name = "m__work__1f2e_", host = @work, kind = "global", size = 4 : i64}
module attributes {gpu.container_module} {
  memref.global "private" @work : memref<1xi32>
  gpu.module @m {
    memref.global @work : memref<1xi32> = dense<0>
    gpu.func @m__work__1f2e() kernel {
      gpu.return
    }
  }
}

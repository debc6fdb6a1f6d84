// RUN: hirc-opt %s --add-offload-entries --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  memref.global "private" @counts : memref<4xi32>
  gpu.module @first {
    memref.global @counts : memref<4xi32> = dense<0>
  }
  gpu.module @second {
    // expected-error @below {{device variable 'counts' is declared by the host and defined in two gpu.modules; give them different names}}
    memref.global @counts : memref<4xi32> = dense<0>
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{device variable 'counts' is declared as memref<4xi32> and defined as memref<4xi64>}}
  memref.global "private" @counts : memref<4xi32>
  gpu.module @m {
    memref.global @counts : memref<4xi64> = dense<0>
  }
}

// -----

module attributes {gpu.container_module} {
  llvm.mlir.global external @pair() : !llvm.struct<(i8, i64)>
  gpu.module @m {
    // expected-error @below {{a device variable of type !llvm.struct<(i8, i64)> cannot be shared with the host; use an array}}
    llvm.mlir.global external @pair() {addr_space = 1 : i32} : !llvm.struct<(i8, i64)> {
      %0 = llvm.mlir.zero : !llvm.struct<(i8, i64)>
      llvm.return %0 : !llvm.struct<(i8, i64)>
    }
  }
}

// -----

module attributes {gpu.container_module} {
  memref.global "private" @nothing : memref<0xi32>
  gpu.module @m {
    // expected-error @below {{'nothing' has no elements to share with the host}}
    memref.global @nothing : memref<0xi32> = dense<0>
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{device variable 'counts' is declared as memref<4xi32> and defined as memref<4xi64>}}
  memref.global "private" @counts : memref<4xi32>
  gpu.module @defines {
    memref.global @counts : memref<4xi32> = dense<0>
  }
  gpu.module @declares {
    memref.global @counts : memref<4xi64>
  }
}

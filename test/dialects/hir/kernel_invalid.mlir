// RUN: hirc-opt %s --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{hir.kernel has a name; 'sym_name' is empty}}
"hir.kernel"() {sym_name = "", function = @kernels::@scale} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{a gpu.func is named @module::@function, not @scale}}
"hir.kernel"() {sym_name = "k", function = @scale} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{@other::@scale is no gpu.func: @other is nothing}}
"hir.kernel"() {sym_name = "k", function = @other::@scale} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{@kernels::@missing is nothing; a gpu.func of that gpu.module is wanted}}
"hir.kernel"() {sym_name = "k", function = @kernels::@missing} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{@kernels::@helper is no kernel: write `gpu.func ... kernel`}}
"hir.kernel"() {sym_name = "k", function = @kernels::@helper} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{hir.kernel 'block' is three positive sizes (x, y, z) as array<i64: ...>; it is array<i64: 128>}}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, block = array<i64: 128>} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{hir.kernel 'block' is three positive sizes (x, y, z) as array<i64: ...>; it is array<i64: 128, 0, 1>}}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, block = array<i64: 128, 0, 1>} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{hir.kernel 'cluster' is three positive sizes (x, y, z) as array<i64: ...>; it is 2 : i64}}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, cluster = 2} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{'shared_bytes' is 0 or more, not -1 : i64}}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, shared_bytes = -1} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{'shared_bytes' is 0 or more, not "1k"}}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, shared_bytes = "1k"} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{'writes' is the numbers of the arguments the kernel writes, each once, as array<i64: ...>, not array<i64: 0, 0>}}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, writes = array<i64: 0, 0>} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{'writes' names argument 2, but the kernel has 2 arguments, numbered from 0}}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, writes = array<i64: 2>} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
// expected-error @below {{'writes' names argument 1, a f32: it lists buffers}}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, writes = array<i64: 1>} : () -> ()

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{@kernels::@k has no 'function_type' that says what it takes}}
  "hir.kernel"() {sym_name = "named", function = @kernels::@k, writes = array<i64: 0>} : () -> ()
  "gpu.module"() ({
    "gpu.func"() ({
      "gpu.return"() : () -> ()
    }) {sym_name = "k", gpu.kernel} : () -> ()
  }) {sym_name = "kernels"} : () -> ()
}

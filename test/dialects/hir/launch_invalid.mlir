// RUN: hirc-opt %s --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    // expected-error @below {{the region of hir.launch holds hir.argument operations alone, not arith.constant: compute it before the launch}}
    %one = arith.constant 1 : index
  }) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  // expected-error @below {{hir.launch 'cluster' is three positive sizes (x, y, z) as array<i64: ...>; it is array<i64: 2, 1>}}
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @kernels::@scale, cluster = array<i64: 2, 1>} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  // expected-error @below {{hir.launch takes a hir.kernel or a gpu.func (@module::@function); @other is nothing}}
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @other} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  // expected-error @below {{hir.launch takes a hir.kernel or a gpu.func (@module::@function); @kernels is a gpu.module}}
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @kernels} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  // expected-error @below {{@kernels::@helper is no kernel: write `gpu.func ... kernel`}}
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @kernels::@helper} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  // expected-error @below {{@kernels::@scale takes 2 arguments, not 1}}
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
  }) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    // expected-error @below {{argument 1 of @kernels::@scale: expected f32, not index}}
    "hir.argument"(%n) : (index) -> ()
  }) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    // expected-error @below {{argument 0 of @kernels::@scale: expected memref<?x4xf32>, not f32}}
    "hir.argument"(%s) : (f32) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @k {
  gpu.func @f(%x: memref<8xf32>) kernel {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    // expected-error @below {{argument 0 of @k::@f: expected 1 dims, not 2: memref<8xf32>, not memref<8x4xtf32>}}
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
  }) {kernel = @k::@f} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @k {
  gpu.func @f(%x: memref<8x4xf16>) kernel {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    // expected-error @below {{argument 0 of @k::@f: expected elements of f16, not tf32}}
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
  }) {kernel = @k::@f} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @k {
  gpu.func @f(%x: memref<8x4xtf32>) kernel {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    // expected-error @below {{argument 0 of @k::@f: a kernel sees elements of tf32 as f32: so is its parameter to be declared}}
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
  }) {kernel = @k::@f} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @k {
  gpu.func @f(%x: memref<8x5xf32>) kernel {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    // expected-error @below {{argument 0 of @k::@f: expected size 5 of dim 1, not 4}}
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
  }) {kernel = @k::@f} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @k {
  gpu.func @f(%x: memref<8x4xf32, strided<[8, 1]>>) kernel {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    // expected-error @below {{argument 0 of @k::@f: expected stride 8 of dim 0, not 4}}
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
  }) {kernel = @k::@f} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  %zero = arith.constant 0 : index
  // expected-error @below {{a size of the block is 1 or more, not 0}}
  "hir.launch"(%n, %n, %n, %n, %zero, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  %less = arith.constant -1 : index
  // expected-error @below {{a size of the grid is 0 or more, not -1}}
  "hir.launch"(%n, %n, %less, %n, %n, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  %less = arith.constant -1 : index
  // expected-error @below {{a size of dynamic shared memory is 0 or more, not -1}}
  "hir.launch"(%n, %n, %n, %n, %n, %n, %less) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, block = array<i64: 128, 1, 1>,
  cluster = array<i64: 2, 1, 1>, shared_bytes = 64 : i64} : () -> ()
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  %threads = arith.constant 64 : index
  // expected-error @below {{@k has blocks of [128, 1, 1] threads; dim 0 of this launch's has 64}}
  "hir.launch"(%n, %n, %n, %threads, %n, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @k} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, block = array<i64: 128, 1, 1>,
  cluster = array<i64: 2, 1, 1>, shared_bytes = 64 : i64} : () -> ()
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  // expected-error @below {{@k has 'cluster' = array<i64: 2, 1, 1>; this launch has array<i64: 1, 1, 1>}}
  "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @k, cluster = array<i64: 1, 1, 1>} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x4xf32>, %s: f32) kernel {
    gpu.return
  }
  gpu.func @helper() {
    gpu.return
  }
}
"hir.kernel"() {sym_name = "k", function = @kernels::@scale, block = array<i64: 128, 1, 1>,
  cluster = array<i64: 2, 1, 1>, shared_bytes = 64 : i64} : () -> ()
"hir.program"() ({
^bb0(%x: memref<8x4xtf32>, %s: f32, %n: index):
  %bytes = arith.constant 128 : index
  // expected-error @below {{@k has 64 bytes of dynamic shared memory; this launch has 128}}
  "hir.launch"(%n, %n, %n, %n, %n, %n, %bytes) ({
  ^bb0:
    "hir.argument"(%x) : (memref<8x4xtf32>) -> ()
    "hir.argument"(%s) : (f32) -> ()
  }) {kernel = @k} : (index, index, index, index, index, index, index) -> ()
}) {sym_name = "main", function_type = (memref<8x4xtf32>, f32, index) -> ()} : () -> ()

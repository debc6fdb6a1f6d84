// RUN: hirc-opt %s --split-input-file -p hir-decide-by-limits | FileCheck %s

"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %c2048 = arith.constant 2048 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %few = arith.cmpi ule, %n, %c64 : index
  cf.assert %few, "n"
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %fewer = arith.cmpi slt, %m, %c8 : index
  cf.assert %fewer, "m"
  %flat = memref.collapse_shape %x [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  %elements = memref.dim %flat, %c0 : memref<?xf32>
  // At most 64 times 7.
  %fits = arith.cmpi ult, %elements, %c2048 : index
  // CHECK: "hir.unary"({{.*}}) {kind = "neg"}
  // CHECK-NOT: "hir.if"
  // CHECK-NOT: kind = "abs"
  %r = "hir.if"(%fits) ({
    "hir.unary"(%y, %y) {kind = "neg"} : (memref<?xf32>, memref<?xf32>) -> ()
  }, {
  ^bb0:
    "hir.unary"(%y, %y) {kind = "abs"} : (memref<?xf32>, memref<?xf32>) -> ()
  }) : (i1) -> !hir.results_t
// CHECK: sym_name = "product"
}) {sym_name = "product", function_type = (memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

// What only a branch asserts says nothing of what comes after it, and what may be is not decided.
"hir.program"() ({
^bb0(%x: memref<?xf32>, %is: i1):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %few = arith.cmpi ule, %n, %c64 : index
  // CHECK: "hir.if"
  %r = "hir.if"(%is) ({
    cf.assert %few, "n"
  }, {
  ^bb0:
  }) : (i1) -> !hir.results_t
  %again = arith.cmpi ule, %n, %c64 : index
  // CHECK: "hir.if"
  %s = "hir.if"(%again) ({
    "hir.unary"(%x, %x) {kind = "neg"} : (memref<?xf32>, memref<?xf32>) -> ()
  }, {
  ^bb0:
  }) : (i1) -> !hir.results_t
}) {sym_name = "open", function_type = (memref<?xf32>, i1) -> ()} : () -> ()

// -----

// A launcher's limits are those of all its calls: 4 to 12 here. Kernels that are left go.
"hir.program"() ({
^bb0(%x: memref<16xf32>, %n: index):
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  "hir.run_launcher"() ({
    "hir.argument"(%x) : (memref<16xf32>) -> ()
    "hir.argument"(%c4) : (index) -> ()
    "hir.argument"(%n) : (index) -> ()
  }) {launcher = @launch} : () -> ()
  "hir.run_launcher"() ({
    "hir.argument"(%x) : (memref<16xf32>) -> ()
    "hir.argument"(%c12) : (index) -> ()
    "hir.argument"(%c4) : (index) -> ()
  }) {launcher = @launch} : () -> ()
}) {sym_name = "one", function_type = (memref<16xf32>, index) -> ()} : () -> ()
"hir.launcher"() ({
^bb0(%x: memref<16xf32>, %n: index, %m: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %small = arith.cmpi ult, %n, %c16 : index
  // CHECK: "hir.launch"{{.*}}
  // CHECK: kernel = @kernels::@kept
  // CHECK-NOT: kernel = @kernels::@left
  %r = "hir.if"(%small) ({
    "hir.launch"(%c1, %c1, %c1, %c1, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<16xf32>) -> ()
    }) {kernel = @kernels::@kept} : (index, index, index, index, index, index, index) -> ()
  }, {
  ^bb0:
    "hir.launch"(%c1, %c1, %c1, %c1, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<16xf32>) -> ()
    }) {kernel = @kernels::@left} : (index, index, index, index, index, index, index) -> ()
  }) : (i1) -> !hir.results_t
  // CHECK: "hir.if"
  %middle = arith.cmpi ult, %n, %c8 : index
  %s = "hir.if"(%middle) ({
  ^bb0:
  }, {
  ^bb0:
  }) : (i1) -> !hir.results_t
  // CHECK: "hir.if"
  %unknown = arith.cmpi ult, %m, %c8 : index
  %t = "hir.if"(%unknown) ({
  ^bb0:
  }, {
  ^bb0:
  }) : (i1) -> !hir.results_t
}) {sym_name = "launch"} : () -> ()
// CHECK: gpu.func @kept
// CHECK-NOT: gpu.func @left
gpu.module @kernels {
  gpu.func @kept(%x: memref<16xf32>) kernel {
    gpu.return
  }
  gpu.func @left(%x: memref<16xf32>) kernel {
    gpu.return
  }
}

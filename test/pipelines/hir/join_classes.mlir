// RUN: hirc-opt %s --split-input-file -p hir-join-classes | FileCheck %s

// Each launch says which class is meant; what the others have more is zeros, or their buffer.
// CHECK:       "hir.if"
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0
// CHECK:         %[[FIRST:.*]] = arith.constant 0 : i32
// CHECK:         "hir.argument"(%[[A:.*]]) : (memref<?xf32>)
// CHECK-NEXT:    "hir.argument"(%[[COUNT:.*]]) : (index)
// CHECK-NEXT:    "hir.argument"(%[[B:.*]]) : (memref<?xf32>)
// CHECK-NEXT:    "hir.argument"(%[[ZERO]]) : (f32)
// CHECK-NEXT:    "hir.argument"(%[[FIRST]]) : (i32)
// CHECK-NEXT:    kernel = @kernels::@flat
// CHECK:         %[[SECOND:.*]] = arith.constant 1 : i32
// CHECK:         "hir.argument"(%[[A]]) : (memref<?xf32>)
// CHECK-NEXT:    "hir.argument"(%[[COUNT]]) : (index)
// CHECK-NEXT:    "hir.argument"(%[[B]]) : (memref<?xf32>)
// CHECK-NEXT:    "hir.argument"(%[[SCALE:.*]]) : (f32)
// CHECK-NEXT:    "hir.argument"(%[[SECOND]]) : (i32)
// CHECK-NEXT:    kernel = @kernels::@flat
// CHECK:       gpu.func @flat(
// CHECK-SAME:    %[[X:[^:]+]]: !llvm.ptr, %[[N:[^:]+]]: index, %[[Y:[^:]+]]: !llvm.ptr, %[[S:[^:]+]]: f32, %[[WHICH:[^:]+]]: i32)
// CHECK-SAME:    hir.configuration = [{family = "pointwise"}], known_block_size = array<i32: 64, 1, 1>
// CHECK:         %[[NONE:.*]] = arith.constant 0 : i32
// CHECK:         %[[IS:.*]] = arith.cmpi eq, %[[WHICH]], %[[NONE]]
// CHECK:         scf.if %[[IS]] {
// CHECK:           llvm.getelementptr %[[X]]
// CHECK:         } else {
// CHECK:           llvm.store %[[S]], %[[Y]]
// CHECK:         }
// CHECK-NEXT:    gpu.return
// CHECK-NOT:   gpu.func
module attributes {gpu.container_module} {
  "hir.launcher"() ({
  ^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %s: f32, %is: i1):
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %r = "hir.if"(%is) ({
      "hir.launch"(%n, %c1, %c1, %c64, %c1, %c1, %c0) ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
        "hir.argument"(%n) : (index) -> ()
      }) {kernel = @kernels::@flat}
        : (index, index, index, index, index, index, index) -> ()
    }, {
      "hir.launch"(%n, %c1, %c1, %c64, %c1, %c1, %c0) ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
        "hir.argument"(%y) : (memref<?xf32>) -> ()
        "hir.argument"(%n) : (index) -> ()
        "hir.argument"(%s) : (f32) -> ()
      }) {kernel = @kernels::@strided}
        : (index, index, index, index, index, index, index) -> ()
    }) : (i1) -> !hir.results_t
  }) {sym_name = "neg"} : () -> ()
  gpu.module @kernels {
    gpu.func @flat(%x: !llvm.ptr, %n: index) kernel
        attributes {hir.configuration = {family = "pointwise"}, hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      %i = arith.index_cast %n : index to i64
      %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      llvm.store %v, %x : f32, !llvm.ptr
      gpu.return
    }
    gpu.func @strided(%x: !llvm.ptr, %y: !llvm.ptr, %n: index, %s: f32) kernel
        attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      llvm.store %s, %y : f32, !llvm.ptr
      gpu.return
    }
  }
}

// -----

// A buffer is passed whole where it is the launcher's own, and what runs after another is joined.
// Where launches say how many threads a block has, or kernels differ in that, the most is known.
// CHECK:       "hir.launch"(%{{.*}}, %c64, %c1, %c1, %c0) ({
// CHECK-NEXT:    "hir.argument"(%[[X:.*]]) : (memref<?xf32>)
// CHECK-NEXT:    "hir.argument"(%[[X]]) : (memref<?xf32>)
// CHECK-NEXT:    "hir.argument"(%c0_i32
// CHECK-NEXT:    kernel = @kernels::@first
// CHECK:       "hir.launch"(%{{.*}}, %c128, %c1, %c1, %c0) ({
// CHECK-NEXT:    "hir.argument"(%[[X]]) : (memref<?xf32>)
// CHECK-NEXT:    "hir.argument"(%[[X]]) : (memref<?xf32>)
// CHECK-NEXT:    "hir.argument"(%c1_i32
// CHECK-NEXT:    kernel = @kernels::@first
// CHECK:       gpu.func @first(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: memref<?xf32>, %{{[^:]*}}: i32)
// CHECK-SAME:    {nvvm.maxntid = array<i32: 128, 1, 1>}
// CHECK-NOT:   gpu.func
module attributes {gpu.container_module} {
  "hir.launcher"() ({
  ^bb0(%x: memref<?xf32>):
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c0 = arith.constant 0 : index
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@first}
      : (index, index, index, index, index, index, index) -> ()
    "hir.launch"(%c1, %c1, %c1, %c128, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@then}
      : (index, index, index, index, index, index, index) -> ()
  }) {sym_name = "two"} : () -> ()
  gpu.module @kernels {
    gpu.func @first(%x: !llvm.ptr) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @then(%x: memref<?xf32>) kernel attributes {hirc.group = "any", nvvm.maxntid = array<i32: 128, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// What one class reads and another writes are two parameters.
// CHECK:       sym_name = "reads_and_writes"
// CHECK:       gpu.func @reads(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i32)
// CHECK-SAME:    {known_block_size = array<i32: 64, 1, 1>, nvvm.minctasm = 2 : i32}
// CHECK-NOT:   gpu.func
module attributes {gpu.container_module} {
  "hir.launcher"() ({
  ^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %is: i1):
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %r = "hir.if"(%is) ({
      "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
      }) {kernel = @kernels::@reads}
        : (index, index, index, index, index, index, index) -> ()
    }, {
      "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
        "hir.argument"(%y) : (memref<?xf32>) -> ()
      }) {kernel = @kernels::@writes}
        : (index, index, index, index, index, index, index) -> ()
    }) : (i1) -> !hir.results_t
  }) {sym_name = "reads_and_writes"} : () -> ()
  gpu.module @kernels {
    gpu.func @reads(%x: !llvm.ptr) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>, nvvm.minctasm = 2 : i32} {
      gpu.return
    }
    gpu.func @writes(%y: !llvm.ptr) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>, nvvm.minctasm = 2 : i32} {
      gpu.return
    }
  }
}

// -----

// Those stay apart of other groups, of other numbers of blocks, with other attributes, whose buffer
// is not the launcher's, and those of programs' own launches.
// CHECK:     sym_name = "apart"
// CHECK-DAG: gpu.func @first(%{{[^:]*}}: !llvm.ptr)
// CHECK-DAG: gpu.func @other_group(%{{[^:]*}}: !llvm.ptr)
// CHECK-DAG: gpu.func @resident(%{{[^:]*}}: !llvm.ptr)
// CHECK-DAG: gpu.func @cluster(%{{[^:]*}}: !llvm.ptr)
// CHECK-DAG: gpu.func @viewed(%{{[^:]*}}: memref<?x1xf32>)
// CHECK-DAG: gpu.func @programs(%{{[^:]*}}: !llvm.ptr)
// CHECK-NOT: hirc.group
module attributes {gpu.container_module} {
  "hir.program"() ({
  ^bb0(%x: memref<?xf32>):
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@programs}
      : (index, index, index, index, index, index, index) -> ()
    "hir.output"(%x) : (memref<?xf32>) -> ()
  }) {function_type = (memref<?xf32>) -> memref<?xf32>, sym_name = "main"} : () -> ()
  "hir.launcher"() ({
  ^bb0(%x: memref<?xf32>):
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %view = memref.expand_shape %x [[0, 1]] output_shape [%c1, 1] : memref<?xf32> into memref<?x1xf32>
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@first}
      : (index, index, index, index, index, index, index) -> ()
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@other_group}
      : (index, index, index, index, index, index, index) -> ()
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@resident}
      : (index, index, index, index, index, index, index) -> ()
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@cluster}
      : (index, index, index, index, index, index, index) -> ()
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%view) : (memref<?x1xf32>) -> ()
    }) {kernel = @kernels::@viewed}
      : (index, index, index, index, index, index, index) -> ()
  }) {sym_name = "apart"} : () -> ()
  gpu.module @kernels {
    gpu.func @first(%x: !llvm.ptr) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @other_group(%x: !llvm.ptr) kernel attributes {hirc.group = "vectors", known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @resident(%x: !llvm.ptr) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>, nvvm.minctasm = 2 : i32} {
      gpu.return
    }
    gpu.func @cluster(%x: !llvm.ptr) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
      gpu.return
    }
    gpu.func @viewed(%x: memref<?x1xf32>) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @programs(%x: !llvm.ptr) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// One that two launchers have is joined with those of one of them, but not with those of both; and
// not with one whose buffer is not the other launcher's.
// CHECK:         kernel = @kernels::@for_all
// CHECK:         kernel = @kernels::@for_all
// CHECK:         kernel = @kernels::@takes_buffer
// CHECK:       sym_name = "both"
// CHECK:         kernel = @kernels::@for_all
// CHECK:         kernel = @kernels::@of_one
// CHECK:       sym_name = "one"
// CHECK-DAG:   gpu.func @for_all(%{{[^:]*}}: memref<?xf32>, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i32)
// CHECK-DAG:   gpu.func @takes_buffer(%{{[^:]*}}: memref<?xf32>)
// CHECK-DAG:   gpu.func @of_one(%{{[^:]*}}: !llvm.ptr)
module attributes {gpu.container_module} {
  "hir.launcher"() ({
  ^bb0(%x: memref<?xf32>):
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@for_all}
      : (index, index, index, index, index, index, index) -> ()
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@of_both}
      : (index, index, index, index, index, index, index) -> ()
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@takes_buffer}
      : (index, index, index, index, index, index, index) -> ()
  }) {sym_name = "both"} : () -> ()
  "hir.launcher"() ({
  ^bb0(%x: memref<?xf32>):
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@for_all}
      : (index, index, index, index, index, index, index) -> ()
    "hir.launch"(%c1, %c1, %c1, %c64, %c1, %c1, %c0) ({
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    }) {kernel = @kernels::@of_one}
      : (index, index, index, index, index, index, index) -> ()
  }) {sym_name = "one"} : () -> ()
  gpu.module @kernels {
    gpu.func @for_all(%x: memref<?xf32>) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @of_both(%x: !llvm.ptr) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @takes_buffer(%x: memref<?xf32>) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
    gpu.func @of_one(%x: !llvm.ptr) kernel attributes {hirc.group = "any", known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
  }
}

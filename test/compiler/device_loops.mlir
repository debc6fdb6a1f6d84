// The least of a row in a thread: a loop that the loop vectorizer of LLVM 22 fails on for NVPTX.
// RUN: hirc %s --emit=device-llvm --offload-arch=sm_90 -o - | FileCheck %s
// CHECK: define {{.*}}ptx_kernel
"hir.program"() ({
^bb0(%x: memref<?x?xbf16, strided<[?, 3], offset: ?>>):
  %y = "hir.reduce"(%x) {kind = "fmin", axes = array<i64: 0, 1>} : (memref<?x?xbf16, strided<[?, 3], offset: ?>>) -> memref<bf16>
  "hir.output"(%y) : (memref<bf16>) -> ()
}) {sym_name = "main", function_type = (memref<?x?xbf16, strided<[?, 3], offset: ?>>) -> memref<bf16>} : () -> ()

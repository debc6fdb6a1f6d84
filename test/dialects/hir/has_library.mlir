// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.has_library"() {library = "cuBLASLt"} : () -> i1
// CHECK: "hir.has_library"() {library = "cuDNN"} : () -> i1
"hir.program"() ({
  %products = "hir.has_library"() {library = "cuBLASLt"} : () -> i1
  %convolutions = "hir.has_library"() {library = "cuDNN"} : () -> i1
}) {sym_name = "main", function_type = () -> ()} : () -> ()

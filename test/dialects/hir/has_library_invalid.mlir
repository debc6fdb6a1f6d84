// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  // expected-error @below {{hir.has_library: it gives an i1, not i32}}
  %there = "hir.has_library"() {library = "cuDNN"} : () -> i32
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.has_library: library is cuBLASLt or cuDNN, not NCCL}}
  %there = "hir.has_library"() {library = "NCCL"} : () -> i1
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.has_library: library is a string, not left out}}
  %there = "hir.has_library"() : () -> i1
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.current_stream"() : () -> !hir.stream_t
"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  "hir.set_stream"(%here) : (!hir.stream_t) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

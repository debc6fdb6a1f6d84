// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.wait_stream"(%{{.*}}, %{{.*}}) : (!hir.stream_t, !hir.stream_t) -> ()
"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  "hir.wait_stream"(%side, %here) : (!hir.stream_t, !hir.stream_t) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.record"() : () -> !hir.event_t
// CHECK: "hir.record"(%{{.*}}) : (!hir.stream_t) -> !hir.event_t
"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %a = "hir.record"() : () -> !hir.event_t
  %b = "hir.record"(%here) : (!hir.stream_t) -> !hir.event_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.wait_event"(%{{.*}}) : (!hir.event_t) -> ()
// CHECK: "hir.wait_event"(%{{.*}}, %{{.*}}) : (!hir.event_t, !hir.stream_t) -> ()
"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %a = "hir.record"() : () -> !hir.event_t
  "hir.wait_event"(%a) : (!hir.event_t) -> ()
  "hir.wait_event"(%a, %here) : (!hir.event_t, !hir.stream_t) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

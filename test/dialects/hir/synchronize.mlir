// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.synchronize"() : () -> ()
// CHECK: "hir.synchronize"(%{{.*}}) : (!hir.stream_t) -> ()
// CHECK: "hir.synchronize"(%{{.*}}) : (!hir.event_t) -> ()
"hir.program"() ({
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %a = "hir.record"() : () -> !hir.event_t
  "hir.synchronize"() : () -> ()
  "hir.synchronize"(%here) : (!hir.stream_t) -> ()
  "hir.synchronize"(%a) : (!hir.event_t) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

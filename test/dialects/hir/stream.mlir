// RUN: hirc-opt %s | hirc-opt | FileCheck %s

// CHECK: "hir.stream"() {name = "side"} : () -> !hir.stream_t
// CHECK: "hir.stream"(%{{.*}}) {pool = 4 : i64} : (index) -> !hir.stream_t
// CHECK: "hir.stream"(%{{.*}}) : (index) -> !hir.stream_t
"hir.program"() ({
^bb0(%n: index):
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  %mine = "hir.stream"(%n) {pool = 4 : i64} : (index) -> !hir.stream_t
  %other = "hir.stream"(%n) : (index) -> !hir.stream_t
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

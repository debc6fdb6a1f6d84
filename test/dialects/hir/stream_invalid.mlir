// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{hir.stream takes a 'name' or an index, and has neither}}
  %s = "hir.stream"() : () -> !hir.stream_t
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{hir.stream takes a 'name' or an index, not both}}
  %s = "hir.stream"(%n) {name = "side"} : (index) -> !hir.stream_t
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{'pool' is for streams by index; the stream of a name is one: leave it out}}
  %s = "hir.stream"() {name = "side", pool = 4 : i64} : () -> !hir.stream_t
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{hir.stream 'name' is the stream's name, a string, not ""; leave it out}}
  %s = "hir.stream"() {name = ""} : () -> !hir.stream_t
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{hir.stream 'pool' is the number of streams in the pool, at least 1; it is 0 : i64}}
  %s = "hir.stream"(%n) {pool = 0 : i64} : (index) -> !hir.stream_t
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{expected base type 'hir.stream_t' but got 'hir.event_t'}}
  %s = "hir.stream"(%n) : (index) -> !hir.event_t
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

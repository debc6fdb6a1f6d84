// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%n: index, %c: i32):
  "hir.for"(%n, %n, %n) ({
  ^bb0(%i: index):
    // expected-error @below {{the condition of hir.stop_loop is i1, not i32: compare it first}}
    "hir.stop_loop"(%c) : (i32) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index, i32) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%c: i1):
  // expected-error @below {{hir.stop_loop is directly in the block of a hir.for: take the condition out of the branch}}
  "hir.stop_loop"(%c) : (i1) -> ()
}) {sym_name = "main", function_type = (i1) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index, %c: i1):
  "hir.for"(%n, %n, %n) ({
  ^bb0(%i: index):
    %results = "hir.if"(%c) ({
      // expected-error @below {{hir.stop_loop is directly in the block of a hir.for: take the condition out of the branch}}
      "hir.stop_loop"(%c) : (i1) -> ()
    }, {
    }) : (i1) -> !hir.results_t
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index, i1) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index, %c: i1):
  "hir.for"(%n, %n, %n) ({
  ^bb0(%i: index):
    // expected-error @below {{the iterations of a hir.for with 'streams' do not wait for one another, and none is the last: leave out 'streams'}}
    "hir.stop_loop"(%c) : (i1) -> ()
  }) {streams = 2 : i64} : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index, i1) -> ()} : () -> ()

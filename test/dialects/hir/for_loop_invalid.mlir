// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{the body of hir.for is one block; it has none: write ({ ^bb0: }) for an empty one}}
  "hir.for"(%n, %n, %n) ({

  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{the block of the body of hir.for has 1 argument, not 0}}
  "hir.for"(%n, %n, %n) ({
  ^bb0:
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{the block of hir.for has the index as argument, not i32}}
  "hir.for"(%n, %n, %n) ({
  ^bb0(%i: i32):
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  %zero = arith.constant 0 : index
  // expected-error @below {{the step of hir.for is positive, not 0}}
  "hir.for"(%n, %n, %zero) ({
  ^bb0(%i: index):
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  %back = index.constant -2
  // expected-error @below {{the step of hir.for is positive, not -2}}
  "hir.for"(%n, %n, %back) ({
  ^bb0(%i: index):
  }) : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{hir.for 'streams' is the number of streams in the pool, at least 1; it is 0 : i64}}
  "hir.for"(%n, %n, %n) ({
  ^bb0(%i: index):
  }) {streams = 0} : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{hir.for 'streams' is the number of streams in the pool, at least 1; it is unit}}
  "hir.for"(%n, %n, %n) ({
  ^bb0(%i: index):
  }) {streams} : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

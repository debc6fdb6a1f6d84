// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p convert-hir-to-gpu

// expected-error @below {{hir.launcher has a name; 'sym_name' is empty}}
"hir.launcher"() ({
^bb0:
}) {sym_name = ""} : () -> ()

// -----

// expected-error @below {{the body of hir.launcher is one block; it has none}}
"hir.launcher"() ({
}) {sym_name = "nothing"} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.run_launcher of @nobody, which is no hir.launcher of this module}}
  "hir.run_launcher"() ({
  ^bb0:
  }) {launcher = @nobody} : () -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  // expected-error @below {{@some takes (memref<?xf32>), not (index)}}
  "hir.run_launcher"() ({
    "hir.argument"(%n) : (index) -> ()
  }) {launcher = @some} : () -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()
"hir.launcher"() ({
^bb0(%x: memref<?xf32>):
}) {sym_name = "some"} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  "hir.run_launcher"() ({
    // expected-error @below {{the region of hir.run_launcher holds hir.argument operations alone, not arith.constant: compute it before the run_launcher}}
    %one = arith.constant 1 : index
  }) {launcher = @some} : () -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()
"hir.launcher"() ({
^bb0:
}) {sym_name = "some"} : () -> ()

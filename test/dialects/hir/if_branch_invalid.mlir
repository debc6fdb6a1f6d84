// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %yes = arith.constant true
  %c = arith.constant 1 : i32
  // expected-error @below {{the condition of hir.if is i1, not i32: compare it first}}
  %r = "hir.if"(%c) ({
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }, {
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }) : (i32) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %yes = arith.constant true

  // expected-error @below {{the first branch of hir.if is one block; it has none: write ({ ^bb0: }) for an empty one}}
  %r = "hir.if"(%yes) ({

  }, {
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %yes = arith.constant true

  // expected-error @below {{the second branch of hir.if is one block; it has none: write ({ ^bb0: }) for an empty one}}
  %r = "hir.if"(%yes) ({
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }, {

  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %yes = arith.constant true

  // expected-error @below {{the block of the first branch of hir.if has no arguments, not 1}}
  %r = "hir.if"(%yes) ({
  ^bb0(%i: index):
  }, {
  ^bb0:
  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %yes = arith.constant true


  %r = "hir.if"(%yes) ({
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }, {
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
    // expected-error @below {{arith.constant comes after an output of the branch; the outputs end it: put it before them}}
    %one = arith.constant 1 : index
  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %yes = arith.constant true

  // expected-error @below {{both branches of hir.if give as many outputs; the first gives 1, the second 0}}
  %r = "hir.if"(%yes) ({
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }, {
  ^bb0:
  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x4xf32>, %s: f32, %y: memref<8x4xf32>):
  %yes = arith.constant true

  // expected-error @below {{output 0 of hir.if is memref<8x4xf32> in the first branch, but f32 in the second; both have one type}}
  %r = "hir.if"(%yes) ({
    "hir.output"(%x) : (memref<8x4xf32>) -> ()
  }, {
    "hir.output"(%s) : (f32) -> ()
  }) : (i1) -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>, f32, memref<8x4xf32>) -> ()} : () -> ()

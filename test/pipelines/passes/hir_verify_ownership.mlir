// RUN: hirc-opt %s --hir-verify-ownership | FileCheck %s

// What keeps the rules passes, and is not changed: a buffer freed in each branch, one that branches
// give, one that is taken over, one that an earlier iteration wrote, and an in-place update.
// CHECK: hir.program
"hir.program"() ({
^bb0(%x: memref<8xf32>, %c: i1, %n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = "hir.allocate"() {zero_init} : () -> memref<8xf32>
  %r = "hir.if"(%c) ({
    %y = "hir.reuse"(%a) : (memref<8xf32>) -> memref<8xf32>
    "hir.unary"(%x, %y) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
    "hir.output"(%y) : (memref<8xf32>) -> ()
  }, {
    "hir.deallocate"(%a) : (memref<8xf32>) -> ()
    %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
    "hir.output"(%y) : (memref<8xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %y = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
  %carried = "hir.allocate"() : () -> memref<8xf32>
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    %is_first = arith.cmpi eq, %i, %zero : index
    %none = "hir.if"(%is_first) ({
    ^bb0:
    }, {
      "hir.unary"(%carried, %x) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
    }) : (i1) -> !hir.results_t
    %t = "hir.unary"(%x) {kind = "abs"} : (memref<8xf32>) -> memref<8xf32>
    "hir.unary"(%t, %carried) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
    "hir.deallocate"(%t) : (memref<8xf32>) -> ()
  }) : (index, index, index) -> ()
  "hir.deallocate"(%carried) : (memref<8xf32>) -> ()
  "hir.output"(%x) {name = "x"} : (memref<8xf32>) -> ()
  "hir.output"(%y) {name = "y"} : (memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>, i1, index) -> (memref<8xf32>, memref<8xf32>)} : () -> ()

// Nothing has to be written to a buffer of no elements.
"hir.program"() ({
  %y = "hir.allocate"() : () -> memref<3x0xf32>
  "hir.output"(%y) {name = "y"} : (memref<3x0xf32>) -> ()
}) {sym_name = "empty", function_type = () -> memref<3x0xf32>} : () -> ()

// A region may write memory, which a program that it calls may read; what it reads of some elements
// alone need not have been written.
"hir.program"() ({
^bb0(%x: memref<8xi32>):
  %zero = arith.constant 0 : index
  %written = "hir.allocate"() : () -> memref<8xi32>
  %y = "hir.allocate"() {output = 0 : i64} : () -> memref<8xi32>
  %not_written = "hir.allocate"() : () -> memref<8xi32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<8xi32>) {
  ^bb0(%e: i32):
    %i = linalg.index 0 : index
    %is_first = arith.cmpi ult, %i, %zero : index
    scf.if %is_first {
      %never = memref.load %not_written[%i] : memref<8xi32>
      memref.store %never, %written[%i] : memref<8xi32>
    } else {
      memref.store %e, %written[%i] : memref<8xi32>
    }
    linalg.yield
  }
  "hir.unary"(%written, %y) {kind = "neg"} : (memref<8xi32>, memref<8xi32>) -> ()
  "hir.deallocate"(%written) : (memref<8xi32>) -> ()
  "hir.deallocate"(%not_written) : (memref<8xi32>) -> ()
  "hir.output"(%y) : (memref<8xi32>) -> ()
}) {sym_name = "regions", function_type = (memref<8xi32>) -> memref<8xi32>} : () -> ()

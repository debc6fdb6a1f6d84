// RUN: hirc-opt %s --hir-resolve-aliases --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  %b = "hir.unary"(%a) {kind = "abs"} : (memref<8xf32>) -> memref<8xf32>
  // expected-error-re @below {{this buffer is an alias of itself, through the hir.alias at {{.*}}: one buffer of a cycle has memory of its own}}
  "hir.alias"(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.alias"(%b, %a) : (memref<8xf32>, memref<8xf32>) -> ()
}) {sym_name = "cycle", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.alias"(%a, %x) : (memref<8xf32>, memref<8xf32>) -> ()
  // expected-error-re @below {{this buffer is an alias of another one already, by the hir.alias at {{.*}}; it has one memory}}
  "hir.alias"(%a, %y) : (memref<8xf32>, memref<8xf32>) -> ()
}) {sym_name = "two_targets", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8x1xf32>):
  %view = "hir.reshape"(%x) : (memref<8xf32>) -> memref<8x1xf32>
  // expected-error-re @below {{the buffer comes from hir.reshape at {{.*}}, whose memory cannot be moved: an alias is what a compute operation, hir.call or hir.allocate makes; hir.set copies}}
  "hir.alias"(%view, %y) : (memref<8x1xf32>, memref<8x1xf32>) -> ()
}) {sym_name = "view", function_type = (memref<8xf32>, memref<8x1xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  %late = "hir.allocate"() : () -> memref<8xf32>
  // expected-error-re @below {{the target, made at {{.*}}, is not there yet where the buffer is made, at {{.*}}: make the target first}}
  "hir.alias"(%a, %late) : (memref<8xf32>, memref<8xf32>) -> ()
}) {sym_name = "late", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  // expected-error @below {{hir.matmul reads an operand more than once, and its result is an alias of that operand's memory: only elementwise operations work in place}}
  %a = "hir.matmul"(%x, %x) : (memref<8x8xf32>, memref<8x8xf32>) -> memref<8x8xf32>
  "hir.alias"(%a, %x) : (memref<8x8xf32>, memref<8x8xf32>) -> ()
}) {sym_name = "not_in_place", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// RUN: hirc-opt %s --hir-verify-ownership --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  %view = "hir.reshape"(%a) : (memref<8xf32>) -> memref<2x4xf32>
  "hir.deallocate"(%a) : (memref<8xf32>) -> ()
  // expected-error-re @below {{hir.unary uses the buffer made at {{.*}}:5:8, which is freed at {{.*}}:7:3: end its life after its last use}}
  "hir.unary"(%view, %view) {kind = "neg"} : (memref<2x4xf32>, memref<2x4xf32>) -> ()
}) {sym_name = "use_after_free", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %c: i1):
  // expected-error-re @below {{the buffer made at {{.*}} leaks on one path: it is freed at {{.*}} alone; hir.deallocate frees it (hir-insert-deallocations adds that after the last use)}}
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  %r = "hir.if"(%c) ({
    "hir.deallocate"(%a) : (memref<8xf32>) -> ()
  }, {
  ^bb0:
  }) : (i1) -> !hir.results_t
  // expected-error-re @below {{hir.unary uses the buffer made at {{.*}}, which is freed on one path at {{.*}}}}
  "hir.unary"(%a, %x) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
}) {sym_name = "one_path", function_type = (memref<8xf32>, i1) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.deallocate"(%a) : (memref<8xf32>) -> ()
  // expected-error-re @below {{the buffer made at {{.*}} is freed twice: its memory is freed at {{.*}} already}}
  "hir.deallocate"(%a) : (memref<8xf32>) -> ()
}) {sym_name = "double_free", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    // expected-error-re @below {{the buffer made at {{.*}} leaks: it is neither freed nor given out; hir.deallocate frees it}}
    %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  }) : (index, index, index) -> ()
}) {sym_name = "leak", function_type = (memref<8xf32>, index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %y = "hir.allocate"() : () -> memref<8xf32>
  // expected-error-re @below {{this output is the buffer made at {{.*}}, to which nothing was written: write it first, or allocate it with zero_init}}
  "hir.output"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "no_producer", function_type = (memref<8xf32>) -> memref<8xf32>} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %a = "hir.allocate"() : () -> memref<8xf32>
  // expected-error-re @below {{hir.unary reads the buffer made at {{.*}}, to which nothing was written before}}
  "hir.unary"(%a, %x) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.unary"(%x, %a) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.deallocate"(%a) : (memref<8xf32>) -> ()
}) {sym_name = "unwritten", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  // expected-error @below {{hir.deallocate frees input 'x': its memory is the caller's}}
  "hir.deallocate"(%x) : (memref<8xf32>) -> ()
}) {sym_name = "input", inputs = [{name = "x"}], function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  // expected-error-re @below {{hir.deallocate frees the buffer made at {{.*}}, and it is an output of the program: its memory is the caller's in the end}}
  "hir.deallocate"(%y) : (memref<8xf32>) -> ()
  "hir.output"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "output", function_type = (memref<8xf32>) -> memref<8xf32>} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
    // expected-error-re @below {{hir.deallocate frees the buffer made at {{.*}} in every iteration of the hir.for at {{.*}}, and it is made before it: free it after the loop}}
    "hir.deallocate"(%a) : (memref<8xf32>) -> ()
  }) : (index, index, index) -> ()
}) {sym_name = "loop", function_type = (memref<8xf32>, index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  %b = "hir.reuse"(%a) : (memref<8xf32>) -> memref<8xf32>
  // expected-error-re @below {{hir.unary uses the buffer made at {{.*}}:8, whose memory is reused at {{.*}}:8: end its life after its last use}}
  "hir.unary"(%a, %b) {kind = "abs"} : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.deallocate"(%b) : (memref<8xf32>) -> ()
}) {sym_name = "reuse", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %c: i1):
  %r = "hir.if"(%c) ({
    %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
    // expected-error-re @below {{this branch gives a fresh buffer, which is then the hir.if's to free, where the other, at {{.*}}, gives one from outside: copy that one with hir.set, or write to it here}}
    "hir.output"(%a) : (memref<8xf32>) -> ()
  }, {
    "hir.output"(%x) : (memref<8xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %y = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
  // expected-error-re @below {{hir.deallocate frees one of several buffers (input 0, value 0 of the hir.if at {{.*}}): free each by itself}}
  "hir.deallocate"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "branches", function_type = (memref<8xf32>, i1) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %c: i1):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  %b = "hir.unary"(%x) {kind = "abs"} : (memref<8xf32>) -> memref<8xf32>
  %r = "hir.if"(%c) ({
    "hir.output"(%a) : (memref<8xf32>) -> ()
  }, {
    "hir.output"(%b) : (memref<8xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %y = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
  // expected-error-re @below {{this output is one of several buffers (the buffer made at {{.*}}, the buffer made at {{.*}}), and the others leak: copy with hir.set in each branch, or write both to one buffer}}
  "hir.output"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "one_of_two", function_type = (memref<8xf32>, i1) -> memref<8xf32>} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  %b = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
  // expected-error-re @below {{this buffer is an alias of itself, through the hir.alias at {{.*}}: one buffer of a cycle has memory of its own}}
  "hir.alias"(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
  "hir.alias"(%b, %a) : (memref<8xf32>, memref<8xf32>) -> ()
}) {sym_name = "cycle", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%c: i1):
  %r = "hir.if"(%c) ({
    %a = "hir.allocate"() {zero_init} : () -> memref<8xf32>
    "hir.output"(%a) : (memref<8xf32>) -> ()
  }, {
    %a = "hir.allocate"() {zero_init, memory = "pinned"} : () -> memref<8xf32>
    // expected-error-re @below {{the branches give memory of different kinds, device and pinned, which are freed in different ways; the other output is at {{.*}}}}
    "hir.output"(%a) : (memref<8xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %y = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
  "hir.deallocate"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "kinds", function_type = (i1) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%c: i1):
  %r = "hir.if"(%c) ({
    %a = "hir.allocate"() : () -> memref<8xf32>
    "hir.output"(%a) : (memref<8xf32>) -> ()
  }, {
    %a = "hir.allocate"() : () -> memref<8xf32>
    "hir.output"(%a) : (memref<8xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %y = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
  // expected-error-re @below {{this output is value 0 of the hir.if at {{.*}}, to which nothing was written}}
  "hir.output"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "unwritten_branch", function_type = (i1) -> memref<8xf32>} : () -> ()

// -----

// Until the wait a communication uses its buffers.
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %y = "hir.allocate"() : () -> memref<16xf32>
  %request = "hir.communicate"(%x, %y, %team) {kind = "allgather"} : (memref<8xf32>, memref<16xf32>, !hir.communicator_t) -> !hir.request_t
  "hir.deallocate"(%y) : (memref<16xf32>) -> ()
  // expected-error-re @below {{hir.wait uses the buffer made at {{.*}}, which is freed at {{.*}}}}
  "hir.wait"(%request) : (!hir.request_t) -> ()
}) {sym_name = "request", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

// What the region of a linalg operation accesses itself counts too.
"hir.program"() ({
^bb0(%x: memref<8xf32>):
  %zero = arith.constant 0 : index
  %freed = "hir.allocate"() {zero_init} : () -> memref<8xf32>
  "hir.deallocate"(%freed) : (memref<8xf32>) -> ()
  %unwritten = "hir.allocate"() : () -> memref<8xf32>
  // expected-error-re @below {{linalg.generic reads the buffer made at {{.*}}, to which nothing was written before}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %first = memref.load %unwritten[%i] : memref<8xf32>
    %is_first = arith.cmpi eq, %i, %zero : index
    %e = scf.if %is_first -> f32 {
      // expected-error-re @below {{memref.load uses the buffer made at {{.*}}, which is freed at {{.*}}}}
      %second = memref.load %freed[%i] : memref<8xf32>
      scf.yield %second : f32
    } else {
      scf.yield %first : f32
    }
    linalg.yield %e : f32
  }
  "hir.deallocate"(%unwritten) : (memref<8xf32>) -> ()
}) {sym_name = "in_a_region", function_type = (memref<8xf32>) -> ()} : () -> ()

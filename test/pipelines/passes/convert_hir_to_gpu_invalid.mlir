// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p convert-hir-to-gpu

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  // expected-error @below {{'hir.unary' is left in the program: run hir-convert-compute-to-linalg and hir-schedule-kernels first}}
  "hir.unary"(%x, %x) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %zero: f32):
  // expected-error @below {{'linalg.fill' is no kernel yet: run hir-schedule-kernels first}}
  linalg.fill ins(%zero : f32) outs(%x : memref<8xf32>)
}) {sym_name = "main", function_type = (memref<8xf32>, f32) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @below {{a hir.for with 'streams' is left: run hir-expand-stream-loops first}}
  "hir.for"(%zero, %n, %one) ({
  ^bb0(%i: index):
  }) {streams = 4 : i64} : (index, index, index) -> ()
}) {sym_name = "main", function_type = (index) -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{programs communicate over nccl, not 'mpi'}}
  %team = "hir.communicator"() {team = array<i64: 0, 1>, backend = "mpi"} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{nothing waits for this communication: its buffers may be used, and freed, while it is still under way; add a hir.wait of its request}}
  %request = "hir.communicate"(%x, %x, %team) {kind = "allreduce", reduction = "sum"}
    : (memref<4xf32>, memref<4xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4xi16>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'sum' of i16 cannot be communicated: NCCL combines i8, ui8, i32, ui32, i64, ui64, f16, f32, f64, bf16, and averages floats alone; convert with hir.set before and after}}
  %request = "hir.communicate"(%x, %x, %team) {kind = "allreduce", reduction = "sum"}
    : (memref<4xi16>, memref<4xi16>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%request) : (!hir.request_t) -> ()
}) {sym_name = "main", function_type = (memref<4xi16>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4xi32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'avg' of i32 cannot be communicated}}
  %request = "hir.communicate"(%x, %x, %team) {kind = "allreduce", reduction = "avg"}
    : (memref<4xi32>, memref<4xi32>, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%request) : (!hir.request_t) -> ()
}) {sym_name = "main", function_type = (memref<4xi32>) -> ()} : () -> ()

// -----

func.func private @log()
"hir.program"() ({
  // expected-error @below {{hir.host_call of @log, which is a func.func here; leave that out}}
  %nothing = "hir.host_call"() ({
  ^bb0:
  }) {callee = @log} : () -> !hir.results_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%n: index, %x: f32):
  %nothing = "hir.host_call"() ({
    "hir.argument"(%n) : (index) -> ()
  }) {callee = @log} : () -> !hir.results_t
  // expected-error @below {{hir.host_call of @log as !llvm.func<void (f32, ptr)>, and elsewhere in the module as !llvm.func<void (i64, ptr)>}}
  %other = "hir.host_call"() ({
    "hir.argument"(%x) : (f32) -> ()
  }) {callee = @log} : () -> !hir.results_t
}) {sym_name = "main", function_type = (index, f32) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%flag: i1):
  // expected-error @below {{output 0 of the branches lies in different kinds of memory; let both allocate the same kind, or neither}}
  %results = "hir.if"(%flag) ({
    %y = "hir.allocate"() {memory = "pinned"} : () -> memref<8xf32>
    "hir.output"(%y) : (memref<8xf32>) -> ()
  }, {
    %y = "hir.allocate"() : () -> memref<8xf32>
    "hir.output"(%y) : (memref<8xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %y = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> memref<8xf32>
  "hir.deallocate"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "main", function_type = (i1) -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{memory that 'memref.alloc' gives cannot be freed by hir.deallocate}}
  %y = memref.alloc() : memref<8xf32>
  "hir.deallocate"(%y) : (memref<8xf32>) -> ()
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{hir.communicate 'kind' is one of gather, allgather, scatter, reduce, allreduce, reduce-scatter, broadcast, send-recv, all-to-all, permute, not 'alltoall'}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "alltoall"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

func.func @f(%x: memref<8xf32>, %team: !hir.communicator_t) {
  // expected-error @below {{the communicator of a communication comes from a hir.communicator}}
  %r = "hir.communicate"(%x, %x, %team) {kind = "all-to-all"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
  return
}

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'root' is for gather, scatter, reduce, broadcast, send-recv; a communication of kind 'broadcast' has one, which is missing}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "broadcast"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'root' is for gather, scatter, reduce, broadcast, send-recv; a communication of kind 'all-to-all' has none}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "all-to-all", root = 0}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'reduction' is for reduce, allreduce, reduce-scatter; a communication of kind 'allreduce' has one, which is missing}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "allreduce"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'reduction' is for reduce, allreduce, reduce-scatter; a communication of kind 'all-to-all' has none}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "all-to-all", reduction = "sum"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'reduction' is one of sum, prod, min, max, avg, not 'mean'}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "allreduce", reduction = "mean"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'to' is for permute; a communication of kind 'permute' has one, which is missing}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "permute"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'root' is a device of the team (0, 1), not 2 : i64}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "broadcast", root = 2}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{'to' names for each device of the team (0, 1) another to send to, each once; it is array<i64: 1, 1>}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "permute", to = array<i64: 1, 1>}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1, 2>} : () -> !hir.communicator_t
  // expected-error @below {{send-recv with a 'root' is between two devices; the team has 3: 0, 1, 2. In a larger one 'peers' say whom each sends to and receives from}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "send-recv", root = 0}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: f32, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{the input of a communication is a buffer; f32 is no memref}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "all-to-all"}
    : (f32, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (f32, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32, strided<[2]>>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{the output of a communication is packed; memref<8xf32, strided<[2]>> has strides of its own or leaves them open: copy it with hir.set}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "all-to-all"}
    : (memref<8xf32>, memref<8xf32, strided<[2]>>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32, strided<[2]>>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf16>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{input and output of a communication have one element type, not f32 and f16: convert with hir.set}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "all-to-all"}
    : (memref<8xf32>, memref<8xf16>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf16>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{allgather within a team of 2 has an output of 2 times the input, 16 elements, not 8}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "allgather"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{gather within a team of 2 has an output of 2 times the input, 16 elements, not 8}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "gather", root = 0}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{scatter within a team of 2 has an input of 2 times the output, 16 elements, not 8}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "scatter", root = 0}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{reduce-scatter within a team of 2 has an input of 2 times the output, 16 elements, not 8}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "reduce-scatter", reduction = "sum"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<9xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{broadcast within a team of 2 has input and output of one size, not 8 and 9 elements}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "broadcast", root = 0}
    : (memref<8xf32>, memref<9xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<9xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1, 2>} : () -> !hir.communicator_t
  // expected-error @below {{all-to-all within a team of 3 has as many elements for each of 3 devices; 8 do not divide evenly}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "all-to-all"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  %two = arith.constant 2 : index
  // expected-error @below {{a peer is a place in the team, 0 to 1, not 2}}
  %r = "hir.communicate"(%x, %y, %team, %two) {kind = "broadcast"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t, index) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>, %i: index):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{the 'peers' of a communication are what stands in place of 'root', for gather, scatter, reduce, broadcast, send-recv; this is 'all-to-all'}}
  %r = "hir.communicate"(%x, %y, %team, %i) {kind = "all-to-all"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t, index) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>, index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>, %i: index):
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
  // expected-error @below {{the 'peers' of a send-recv are whom a device sends to and whom it receives from: 2, not 1}}
  %r = "hir.communicate"(%x, %y, %team, %i) {kind = "send-recv"}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t, index) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>, index) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %team = "hir.communicator"() {teams = [array<i64: 0, 1>, array<i64: 2, 3>]} : () -> !hir.communicator_t
  // expected-error @below {{'root' and 'to' are devices of one team, and the communicator has several: give places in the team as 'peers'}}
  %r = "hir.communicate"(%x, %y, %team) {kind = "broadcast", root = 0 : i64}
    : (memref<8xf32>, memref<8xf32>, !hir.communicator_t) -> !hir.request_t
}) {sym_name = "main", function_type = (memref<8xf32>, memref<8xf32>) -> ()} : () -> ()

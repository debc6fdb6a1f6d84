// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
  // expected-error @below {{hir.communicator 'team' is the numbers of the devices, each once, as array<i64: 0, 1>; it is array<i64>}}
  %team = "hir.communicator"() {team = array<i64>} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.communicator 'team' is the numbers of the devices, each once, as array<i64: 0, 1>; it is array<i64: 0, 0>}}
  %team = "hir.communicator"() {team = array<i64: 0, 0>} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.communicator 'team' is the numbers of the devices, each once, as array<i64: 0, 1>; it is array<i64: -1>}}
  %team = "hir.communicator"() {team = array<i64: -1>} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.communicator 'team' is the numbers of the devices, each once, as array<i64: 0, 1>; it is [0, 1]}}
  %team = "hir.communicator"() {team = [0, 1]} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.communicator 'backend' is what communicates, a string, not ""; leave it out}}
  %team = "hir.communicator"() {team = array<i64: 0>, backend = ""} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.communicator has 'team', the devices that communicate, or 'teams', several of them, of which a device takes its own; and not both}}
  %team = "hir.communicator"() : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.communicator 'teams' is teams of one size that share no device, as [array<i64: 0, 1>, array<i64: 2, 3>]; it is [array<i64: 0, 1>, array<i64: 1, 2>]}}
  %team = "hir.communicator"() {teams = [array<i64: 0, 1>, array<i64: 1, 2>]} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.communicator 'teams' is teams of one size that share no device}}
  %team = "hir.communicator"() {teams = [array<i64: 0, 1>, array<i64: 2>]} : () -> !hir.communicator_t
}) {sym_name = "main", function_type = () -> ()} : () -> ()

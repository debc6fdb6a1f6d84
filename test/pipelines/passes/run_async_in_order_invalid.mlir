// RUN: hirc-opt %s --run-async-in-order --split-input-file --verify-diagnostics

func.func @place(%n: index, %t: !async.token) -> index {
  %group = async.create_group %n : !async.group
  // expected-error @+1 {{the place of a token in its group is not known where regions run in order}}
  %place = async.add_to_group %t, %group : !async.token
  return %place : index
}

// -----

func.func @runtime() {
  // expected-error @+1 {{'async.runtime.create' is of the async dialect's own lowering, and not taken}}
  %t = async.runtime.create : !async.token
  return
}

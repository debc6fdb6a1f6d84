// RUN: hirc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// Every way to say where: the line itself, so many lines on or back, and past other annotations.
"wrong.op"() { x = @f } : () -> ()
// CHECK: "wrong.op"

// -----

func.func @here(%n: i32) {
  %0 = arith.addi %n, %m : i32 // expected-error {{use of undeclared SSA value name}}
  return
}

// -----

func.func @above(%n: i32) {
  %0 = arith.addi %n, %m : i32
  // expected-error @above {{undeclared SSA value}}
  return
}

// -----

// expected-error @+2 {{undeclared SSA value}}
func.func @counted(%n: i32) {
  %0 = arith.addi %n, %m : i32
  return
}

// -----

func.func @back(%n: i32) {
  %0 = arith.addi %n, %m : i32
  return
  // expected-error @-2 {{undeclared SSA value}}
}

// -----

// Notes, and a message with a regular expression in it.
// expected-note @below {{prior use here}}
func.func @past(%n: i32) {
  // expected-error-re @below {{use of value '%n' expects different type than prior uses: '{{i[0-9]+}}' vs 'i32'}}
  %0 = arith.addi %n, %n : i64
  return
}

// -----

// CHECK: func.func @fine
func.func @fine() {
  return
}

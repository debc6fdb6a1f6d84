// RUN: hirc-opt %s --add-entry-point=entry=start --split-input-file --verify-diagnostics

// expected-error @below {{the entry 'start' has type (i32) -> (); an executable's entry takes nothing and returns nothing or i32. Wrap it in a function that does, or build with --emit=shared or --emit=object}}
func.func @start(%n: i32) {
  return
}

// -----

// expected-error @below {{the entry 'start' has type () -> f32;}}
func.func @start() -> f32 {
  %0 = arith.constant 0.0 : f32
  return %0 : f32
}

// -----

// expected-error @below {{the entry 'start' has type () -> (i32, i32);}}
func.func @start() -> (i32, i32) {
  %0 = arith.constant 0 : i32
  return %0, %0 : i32, i32
}

// -----

// expected-error @below {{the entry 'start' is a llvm.func, not a func.func}}
llvm.func @start() {
  llvm.return
}

// -----

// expected-error @below {{the entry 'start' is a gpu.module, not a func.func}}
gpu.module @start {
}

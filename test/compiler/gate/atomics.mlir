// CASE orderings and scopes
llvm.func @f(%p: !llvm.ptr, %i: i32, %q: !llvm.ptr<1>) {
  %0 = llvm.load %p atomic unordered {alignment = 4 : i64} : !llvm.ptr -> i32
  %1 = llvm.load %p atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> f32
  %2 = llvm.load %p atomic syncscope("device") acquire {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  llvm.store %i, %p atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.store volatile %i, %p atomic syncscope("block") seq_cst {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.fence acquire
  llvm.fence syncscope("singlethread") acq_rel
  llvm.fence seq_cst
  %3 = llvm.cmpxchg %p, %i, %i acq_rel monotonic : !llvm.ptr, i32
  %4 = llvm.cmpxchg weak volatile %p, %i, %i syncscope("device") seq_cst acquire {alignment = 8 : i64} : !llvm.ptr, i32
  %5 = llvm.atomicrmw volatile add %q, %i syncscope("block") acq_rel {alignment = 8 : i64} : !llvm.ptr<1>, i32
  llvm.return
}

// CASE integer updates
llvm.func @f(%p: !llvm.ptr, %i: i32) {
  %0 = llvm.atomicrmw xchg %p, %i monotonic : !llvm.ptr, i32
  %1 = llvm.atomicrmw add %p, %i monotonic : !llvm.ptr, i32
  %2 = llvm.atomicrmw sub %p, %i monotonic : !llvm.ptr, i32
  %3 = llvm.atomicrmw _and %p, %i monotonic : !llvm.ptr, i32
  %4 = llvm.atomicrmw nand %p, %i monotonic : !llvm.ptr, i32
  %5 = llvm.atomicrmw _or %p, %i monotonic : !llvm.ptr, i32
  %6 = llvm.atomicrmw _xor %p, %i monotonic : !llvm.ptr, i32
  %7 = llvm.atomicrmw max %p, %i monotonic : !llvm.ptr, i32
  %8 = llvm.atomicrmw min %p, %i monotonic : !llvm.ptr, i32
  %9 = llvm.atomicrmw umax %p, %i monotonic : !llvm.ptr, i32
  %10 = llvm.atomicrmw umin %p, %i monotonic : !llvm.ptr, i32
  %11 = llvm.atomicrmw uinc_wrap %p, %i monotonic : !llvm.ptr, i32
  %12 = llvm.atomicrmw udec_wrap %p, %i monotonic : !llvm.ptr, i32
  %13 = llvm.atomicrmw usub_cond %p, %i monotonic : !llvm.ptr, i32
  %14 = llvm.atomicrmw usub_sat %p, %i monotonic : !llvm.ptr, i32
  llvm.return
}

// CASE floating-point updates
llvm.func @f(%p: !llvm.ptr, %v: vector<2xf16>) {
  %c = llvm.mlir.constant(0.1 : f32) : f32
  %0 = llvm.atomicrmw fadd %p, %c monotonic : !llvm.ptr, f32
  %1 = llvm.atomicrmw fsub %p, %c monotonic : !llvm.ptr, f32
  %2 = llvm.atomicrmw fmax %p, %c monotonic : !llvm.ptr, f32
  %3 = llvm.atomicrmw fmin %p, %c monotonic : !llvm.ptr, f32
  %4 = llvm.atomicrmw fmaximum %p, %c monotonic : !llvm.ptr, f32
  %5 = llvm.atomicrmw fminimum %p, %c monotonic : !llvm.ptr, f32
  %6 = llvm.atomicrmw xchg %p, %c monotonic : !llvm.ptr, f32
  %7 = llvm.atomicrmw fadd %p, %v monotonic : !llvm.ptr, vector<2xf16>
  llvm.return
}

// CASE the greater number
// REFUSED atomicrmw fmaximumnum and fminimumnum
llvm.func @f(%p: !llvm.ptr, %a: f32) {
  %0 = llvm.atomicrmw fmaximumnum %p, %a monotonic : !llvm.ptr, f32
  llvm.return
}

// CASE the lesser number
// REFUSED atomicrmw fmaximumnum and fminimumnum
llvm.func @f(%p: !llvm.ptr, %a: f64) {
  %0 = llvm.atomicrmw fminimumnum %p, %a seq_cst : !llvm.ptr, f64
  llvm.return
}

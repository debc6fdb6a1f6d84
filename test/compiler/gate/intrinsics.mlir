// CASE math
llvm.func @f(%a: f32, %v: vector<4xf32>, %d: f64, %h: f16, %i: i32) -> f32 {
  %0 = llvm.intr.sqrt(%a) : (f32) -> f32
  %1 = llvm.intr.exp2(%0) : (f32) -> f32
  %2 = llvm.intr.pow(%1, %a) : (f32, f32) -> f32
  %3 = llvm.intr.powi(%2, %i) : (f32, i32) -> f32
  %4 = llvm.intr.fabs(%3) : (f32) -> f32
  %5 = llvm.intr.copysign(%4, %a) : (f32, f32) -> f32
  %6 = llvm.intr.maxnum(%5, %a) : (f32, f32) -> f32
  %7 = llvm.intr.minimum(%6, %a) : (f32, f32) -> f32
  %8 = llvm.intr.roundeven(%7) : (f32) -> f32
  %9 = llvm.intr.sin(%8) : (f32) -> f32
  %10 = llvm.intr.tanh(%9) : (f32) -> f32
  %11 = llvm.intr.atan2(%10, %a) : (f32, f32) -> f32
  %12 = llvm.intr.fmuladd(%v, %v, %v) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %13 = llvm.intr.ldexp(%11, %i) : (f32, i32) -> f32
  %14 = llvm.intr.frexp(%d) : (f64) -> !llvm.struct<(f64, i32)>
  %15 = llvm.intr.sincos(%13) : (f32) -> !llvm.struct<(f32, f32)>
  %16 = llvm.intr.trunc(%h) : (f16) -> f16
  %17 = llvm.intr.lrint(%13) : (f32) -> i64
  %18 = "llvm.intr.is.fpclass"(%a) <{bit = 3 : i32}> : (f32) -> i1
  llvm.return %13 : f32
}

// CASE integers and bits
llvm.func @f(%a: i32, %b: i64, %v: vector<4xi32>) -> i32 {
  %0 = "llvm.intr.ctlz"(%a) <{is_zero_poison = false}> : (i32) -> i32
  %1 = "llvm.intr.cttz"(%0) <{is_zero_poison = true}> : (i32) -> i32
  %2 = llvm.intr.ctpop(%1) : (i32) -> i32
  %3 = llvm.intr.bitreverse(%2) : (i32) -> i32
  %4 = llvm.intr.bswap(%3) : (i32) -> i32
  %5 = llvm.intr.fshl(%4, %a, %a) : (i32, i32, i32) -> i32
  %6 = "llvm.intr.abs"(%5) <{is_int_min_poison = false}> : (i32) -> i32
  %7 = llvm.intr.smax(%6, %a) : (i32, i32) -> i32
  %8 = llvm.intr.umin(%7, %a) : (i32, i32) -> i32
  %9 = llvm.intr.sadd.sat(%8, %a) : (i32, i32) -> i32
  %10 = "llvm.intr.umul.with.overflow"(%9, %a) : (i32, i32) -> !llvm.struct<(i32, i1)>
  %11 = llvm.intr.scmp(%9, %a) : (i32, i32) -> i8
  %12 = "llvm.intr.vector.reduce.add"(%v) : (vector<4xi32>) -> i32
  llvm.return %12 : i32
}

// CASE memory and vectors
llvm.func @f(%p: !llvm.ptr, %m: vector<4xi1>, %v: vector<4xf32>, %q: vector<4x!llvm.ptr>, %n: i64, %w: vector<[4]xf32>) {
  %0 = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  llvm.intr.masked.store %0, %p, %m {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
  %1 = llvm.intr.masked.gather %q, %m, %v {alignment = 4 : i32} : (vector<4x!llvm.ptr>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  llvm.intr.masked.scatter %1, %q, %m {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into vector<4x!llvm.ptr>
  %2 = "llvm.intr.masked.expandload"(%p, %m, %v) : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  "llvm.intr.masked.compressstore"(%2, %p, %m) : (vector<4xf32>, !llvm.ptr, vector<4xi1>) -> ()
  %3 = llvm.intr.matrix.multiply %v, %v {lhs_rows = 2 : i32, lhs_columns = 2 : i32, rhs_columns = 2 : i32} : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %4 = llvm.intr.vector.insert %3, %w[0] : vector<4xf32> into vector<[4]xf32>
  %5 = llvm.intr.vector.extract %4[0] : vector<4xf32> from vector<[4]xf32>
  "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  %6 = llvm.intr.stacksave : !llvm.ptr
  llvm.intr.stackrestore %6 : !llvm.ptr
  %7 = "llvm.intr.invariant.start"(%p) <{size = 8 : i64}> : (!llvm.ptr) -> !llvm.ptr
  %8 = llvm.intr.ptrmask %p, %n : (!llvm.ptr, i64) -> !llvm.ptr
  llvm.intr.fake.use %v : vector<4xf32>
  llvm.return
}

// CASE hints and control
llvm.func @f(%a: i32, %c: i1, %p: !llvm.ptr, %n: i64) -> i32 {
  llvm.intr.assume %c : i1
  %true = llvm.mlir.constant(true) : i1
  llvm.intr.assume %true ["align"(%p, %n : !llvm.ptr, i64)] : i1
  %0 = llvm.intr.expect %a, %a : i32
  %1 = "llvm.intr.expect.with.probability"(%0, %a) <{prob = 5.000000e-01 : f64}> : (i32, i32) -> i32
  %2 = "llvm.intr.is.constant"(%1) : (i32) -> i1
  %3 = "llvm.intr.ssa.copy"(%1) : (i32) -> i32
  llvm.intr.debugtrap
  "llvm.intr.trap"() : () -> ()
  llvm.return %3 : i32
}

// CASE variable arguments
llvm.func @f(%a: i32, ...) -> i32 {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x !llvm.struct<(i32, i32, ptr, ptr)> : (i32) -> !llvm.ptr
  llvm.intr.vastart %1 : !llvm.ptr
  %2 = llvm.va_arg %1 : (!llvm.ptr) -> i32
  llvm.intr.vaend %1 : !llvm.ptr
  llvm.return %2 : i32
}

// CASE constrained arithmetic
llvm.func @f(%a: f32, %d: f64) -> f32 {
  %0 = llvm.intr.experimental.constrained.fptrunc %d towardzero ignore : f64 to f32
  %1 = llvm.intr.experimental.constrained.fadd %0, %a tonearest strict : f32
  llvm.return %1 : f32
}

// CASE intrinsics by name
llvm.func @f(%a: i32) -> i32 {
  %0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  %1 = llvm.call_intrinsic "llvm.nvvm.redux.sync.add"(%0, %a) : (i32, i32) -> i32
  llvm.return %1 : i32
}

// CASE newer conversions
// UNKNOWN llvm.nvvm.bf16x2.to.e4m3x2.rn.satfinite
llvm.func @f(%a: vector<2xbf16>) {
  %0 = llvm.call_intrinsic "llvm.nvvm.bf16x2.to.e4m3x2.rn.satfinite"(%a) : (vector<2xbf16>) -> i16
  llvm.return
}

// CASE newer matrix movement
// UNKNOWN llvm.nvvm.movmatrix.sync.aligned.m8n8.trans.b16
llvm.func @f(%a: i32) {
  %0 = llvm.call_intrinsic "llvm.nvvm.movmatrix.sync.aligned.m8n8.trans.b16"(%a) : (i32) -> i32
  llvm.return
}

// CASE scalars of every type
llvm.mlir.global internal constant @f32(0.1 : f32) : f32
llvm.mlir.global internal constant @f32_exact(1.5 : f32) : f32
llvm.mlir.global internal constant @f64(0.1 : f64) : f64
llvm.mlir.global internal constant @f16(0.1 : f16) : f16
llvm.mlir.global internal constant @bf16(0.1 : bf16) : bf16
llvm.mlir.global internal constant @f80(0.1 : f80) : f80
llvm.mlir.global internal constant @f128(0.1 : f128) : f128

// CASE infinities, NaNs and denormals of f32
llvm.mlir.global internal constant @inf(0x7F800000 : f32) : f32
llvm.mlir.global internal constant @minus_inf(0xFF800000 : f32) : f32
llvm.mlir.global internal constant @nan(0x7FC00000 : f32) : f32
llvm.mlir.global internal constant @payload(0xFFC12345 : f32) : f32
llvm.mlir.global internal constant @signaling(0x7F800001 : f32) : f32
llvm.mlir.global internal constant @least(0x00000001 : f32) : f32
llvm.mlir.global internal constant @greatest_denormal(0x007FFFFF : f32) : f32
llvm.mlir.global internal constant @minus_zero(0x80000000 : f32) : f32
llvm.mlir.global internal constant @max(0x7F7FFFFF : f32) : f32

// CASE infinities, NaNs and denormals of the other types
llvm.mlir.global internal constant @d0(0x7FF0000000000000 : f64) : f64
llvm.mlir.global internal constant @d1(0xFFF8000000000123 : f64) : f64
llvm.mlir.global internal constant @d2(0x7FF0000000000001 : f64) : f64
llvm.mlir.global internal constant @d3(0x0000000000000001 : f64) : f64
llvm.mlir.global internal constant @h0(0x7C00 : f16) : f16
llvm.mlir.global internal constant @h1(0x7E01 : f16) : f16
llvm.mlir.global internal constant @h2(0xFC01 : f16) : f16
llvm.mlir.global internal constant @h3(0x0001 : f16) : f16
llvm.mlir.global internal constant @b0(0xFF80 : bf16) : bf16
llvm.mlir.global internal constant @b1(0x7FC0 : bf16) : bf16
llvm.mlir.global internal constant @b2(0x7F81 : bf16) : bf16
llvm.mlir.global internal constant @b3(0x0001 : bf16) : bf16

// CASE arrays, vectors, splats and structs
llvm.mlir.global internal constant @array(dense<[0.1, 1.0, 0x7F800000]> : tensor<3xf32>) : !llvm.array<3 x f32>
llvm.mlir.global internal constant @nested(dense<[[0.1, 0.2], [0.3, 0.4]]> : tensor<2x2xf16>) : !llvm.array<2 x array<2 x f16>>
llvm.mlir.global internal constant @vector(dense<[0.1, 0.2]> : vector<2xbf16>) : vector<2xbf16>
llvm.mlir.global internal constant @splat(dense<0.1> : vector<4xf32>) : vector<4xf32>
llvm.mlir.global internal constant @structure() : !llvm.struct<(f32, f64, struct<packed (f16, i8)>)> {
  %0 = llvm.mlir.constant(0.1 : f32) : f32
  %1 = llvm.mlir.constant(0.1 : f64) : f64
  %2 = llvm.mlir.constant(0.1 : f16) : f16
  %3 = llvm.mlir.constant(7 : i8) : i8
  %4 = llvm.mlir.undef : !llvm.struct<packed (f16, i8)>
  %5 = llvm.insertvalue %2, %4[0] : !llvm.struct<packed (f16, i8)>
  %6 = llvm.insertvalue %3, %5[1] : !llvm.struct<packed (f16, i8)>
  %7 = llvm.mlir.undef : !llvm.struct<(f32, f64, struct<packed (f16, i8)>)>
  %8 = llvm.insertvalue %0, %7[0] : !llvm.struct<(f32, f64, struct<packed (f16, i8)>)>
  %9 = llvm.insertvalue %1, %8[1] : !llvm.struct<(f32, f64, struct<packed (f16, i8)>)>
  %10 = llvm.insertvalue %6, %9[2] : !llvm.struct<(f32, f64, struct<packed (f16, i8)>)>
  llvm.return %10 : !llvm.struct<(f32, f64, struct<packed (f16, i8)>)>
}

// CASE second operands, whose type is not repeated
llvm.func @f(%a: f32, %b: f16, %c: i1, %v: vector<4xf32>) -> f32 {
  %0 = llvm.mlir.constant(0.1 : f32) : f32
  %1 = llvm.mlir.constant(0.1 : f16) : f16
  %2 = llvm.mlir.constant(dense<0.1> : vector<4xf32>) : vector<4xf32>
  %3 = llvm.mlir.constant(dense<[0.1, 0.2, 0.3, 0.4]> : vector<4xf32>) : vector<4xf32>
  %4 = llvm.fadd %a, %0 : f32
  %5 = llvm.fcmp "olt" %b, %1 : f16
  %6 = llvm.select %5, %4, %0 : i1, f32
  %7 = llvm.fmul %v, %2 : vector<4xf32>
  %8 = llvm.fmul %7, %3 : vector<4xf32>
  %9 = llvm.mlir.constant(1 : i32) : i32
  %10 = llvm.insertelement %0, %8[%9 : i32] : vector<4xf32>
  %11 = llvm.extractelement %10[%9 : i32] : vector<4xf32>
  %12 = llvm.fadd %11, %6 : f32
  llvm.cond_br %c, ^bb1, ^bb2(%0 : f32)
^bb1:
  %13 = llvm.mlir.constant(0.2 : f32) : f32
  llvm.br ^bb2(%13 : f32)
^bb2(%14: f32):
  %15 = llvm.fadd %14, %12 : f32
  llvm.return %15 : f32
}

// CASE arguments of calls with several types
llvm.func @printf(!llvm.ptr, ...) -> i32
llvm.func @g(f32, f64, f16, bf16)
llvm.func @f(%p: !llvm.ptr) {
  %0 = llvm.mlir.constant(0.1 : f32) : f32
  %1 = llvm.mlir.constant(0.1 : f64) : f64
  %2 = llvm.mlir.constant(0.1 : f16) : f16
  %3 = llvm.mlir.constant(0.1 : bf16) : bf16
  llvm.call @g(%0, %1, %2, %3) : (f32, f64, f16, bf16) -> ()
  %4 = llvm.call @printf(%p, %1) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, f64) -> i32
  llvm.store %0, %p : f32, !llvm.ptr
  llvm.return
}

// CASE strings and names that look like literals
llvm.mlir.global internal constant @text("float 1.000000e-01 +inf ; denormal_fpenv(ieee) b8\00") {addr_space = 0 : i32}
llvm.mlir.global internal constant @"float 0.1e-1"(0.1 : f32) : f32
llvm.mlir.global internal constant @quotes("\22float 1.000000e-01\22\0A    \22x\22\00")
llvm.func @"b8 f0x3F"(%a: f32) -> f32 attributes {passthrough = [["float 1.000000e-01", "+inf noipa"]]} {
  llvm.inline_asm has_side_effects "mov.f32 %f0x1, 1.0e-1; // b8 uitofp fast", "" : () -> ()
  llvm.return %a : f32
}

// CASE metadata
llvm.func @f(%a: f32) -> f32 {
  %0 = llvm.fdiv %a, %a : f32
  llvm.return %0 : f32
}
llvm.named_metadata "numbers" [#llvm.md_node<#llvm.md_const<1 : i32>, #llvm.md_string<"float 1.000000e-01">>]

// CASE integers, pointers, undefined and poison
llvm.mlir.global internal constant @wide(-1 : i128) : i128
llvm.mlir.global internal constant @bool(true) : i1
llvm.mlir.global internal constant @ints(dense<[1, -1]> : tensor<2xi16>) : !llvm.array<2 x i16>
llvm.mlir.global internal @zero() : !llvm.array<4 x i32> {
  %0 = llvm.mlir.zero : !llvm.array<4 x i32>
  llvm.return %0 : !llvm.array<4 x i32>
}
llvm.mlir.global internal @undefined() : !llvm.struct<(i32, ptr)> {
  %0 = llvm.mlir.undef : !llvm.struct<(i32, ptr)>
  llvm.return %0 : !llvm.struct<(i32, ptr)>
}
llvm.mlir.global internal @poison() : vector<2xi32> {
  %0 = llvm.mlir.poison : vector<2xi32>
  llvm.return %0 : vector<2xi32>
}
llvm.mlir.global internal constant @address() : !llvm.ptr {
  %0 = llvm.mlir.addressof @ints : !llvm.ptr
  %1 = llvm.getelementptr inbounds|nuw %0[1] : (!llvm.ptr) -> !llvm.ptr, i16
  llvm.return %1 : !llvm.ptr
}

// CASE fast-math flags wherever they are allowed
llvm.func @f(%a: f32, %b: f32, %c: i1, %d: f64) -> f32 {
  %0 = llvm.fadd %a, %b {fastmathFlags = #llvm.fastmath<nnan, ninf>} : f32
  %1 = llvm.fsub %0, %b {fastmathFlags = #llvm.fastmath<nsz, arcp>} : f32
  %2 = llvm.fmul %1, %b {fastmathFlags = #llvm.fastmath<contract, afn, reassoc>} : f32
  %3 = llvm.fdiv %2, %b {fastmathFlags = #llvm.fastmath<fast>} : f32
  %4 = llvm.frem %3, %b {fastmathFlags = #llvm.fastmath<fast>} : f32
  %5 = llvm.fneg %4 {fastmathFlags = #llvm.fastmath<fast>} : f32
  %6 = llvm.fcmp "ueq" %5, %b {fastmathFlags = #llvm.fastmath<fast>} : f32
  %7 = llvm.select %6, %a, %b {fastmathFlags = #llvm.fastmath<fast>} : i1, f32
  %8 = llvm.fpext %7 {fastmathFlags = #llvm.fastmath<fast>} : f32 to f64
  %9 = llvm.fptrunc %8 {fastmathFlags = #llvm.fastmath<fast>} : f64 to f32
  %10 = llvm.intr.fma(%9, %a, %b) {fastmathFlags = #llvm.fastmath<fast>} : (f32, f32, f32) -> f32
  %11 = llvm.call @g(%10) {fastmathFlags = #llvm.fastmath<contract>} : (f32) -> f32
  llvm.return %11 : f32
}
llvm.func @g(f32) -> f32

// CASE integer flags
llvm.func @f(%a: i32, %b: i64, %p: !llvm.ptr) -> i32 {
  %0 = llvm.add %a, %a overflow<nsw, nuw> : i32
  %1 = llvm.sub %0, %a overflow<nsw> : i32
  %2 = llvm.mul %1, %a overflow<nuw> : i32
  %3 = llvm.shl %2, %a overflow<nsw, nuw> : i32
  %4 = llvm.or disjoint %3, %a : i32
  %5 = llvm.lshr exact %4, %a : i32
  %6 = llvm.ashr exact %5, %a : i32
  %7 = llvm.udiv exact %6, %a : i32
  %8 = llvm.sdiv exact %7, %a : i32
  %9 = llvm.zext nneg %8 : i32 to i64
  %10 = llvm.trunc %9 overflow<nsw, nuw> : i64 to i32
  %11 = llvm.uitofp nneg %10 : i32 to f32
  %12 = llvm.sitofp %10 : i32 to f32
  %13 = llvm.fptoui %11 : f32 to i32
  %14 = llvm.fptosi %12 : f32 to i32
  %15 = llvm.icmp "ult" %13, %14 : i32
  %16 = llvm.srem %13, %14 : i32
  %17 = llvm.urem %16, %14 : i32
  %18 = llvm.xor %17, %14 : i32
  %19 = llvm.and %18, %14 : i32
  %20 = llvm.sext %15 : i1 to i32
  %21 = llvm.add %19, %20 : i32
  %22 = llvm.freeze %21 : i32
  llvm.return %22 : i32
}

// CASE addresses
llvm.func @f(%p: !llvm.ptr, %i: i64, %q: !llvm.ptr<3>) -> !llvm.ptr {
  %0 = llvm.getelementptr inbounds %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %1 = llvm.getelementptr nusw|nuw %0[%i, 1] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
  %2 = llvm.getelementptr nuw %1[0, 1, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32, array<3 x i8>)>
  %3 = llvm.ptrtoint %2 : !llvm.ptr to i64
  %4 = llvm.inttoptr %3 : i64 to !llvm.ptr
  %5 = llvm.addrspacecast %q : !llvm.ptr<3> to !llvm.ptr
  %6 = llvm.ptrtoaddr %5 : !llvm.ptr to i64
  %7 = llvm.icmp "eq" %4, %5 : !llvm.ptr
  %8 = llvm.select %7, %4, %5 : i1, !llvm.ptr
  llvm.return %8 : !llvm.ptr
}

// CASE memory
llvm.func @f(%p: !llvm.ptr, %n: i64) -> i64 {
  %0 = llvm.mlir.constant(4 : i32) : i32
  %1 = llvm.alloca %0 x !llvm.array<4 x f32> {alignment = 32 : i64} : (i32) -> !llvm.ptr
  llvm.intr.lifetime.start %1 : !llvm.ptr
  %2 = llvm.load volatile %p {alignment = 8 : i64} : !llvm.ptr -> i64
  %3 = llvm.load %p {alignment = 8 : i64, nontemporal} : !llvm.ptr -> i64
  %4 = llvm.load %p invariant {alignment = 8 : i64} : !llvm.ptr -> i64
  %5 = llvm.load %p dereferenceable<bytes = 8> : !llvm.ptr -> !llvm.ptr
  %6 = llvm.load %p invariant_group : !llvm.ptr -> i64
  llvm.store volatile %2, %p {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.store %3, %p {alignment = 8 : i64, nontemporal} : i64, !llvm.ptr
  "llvm.intr.memcpy"(%p, %1, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memmove"(%p, %1, %n) <{isVolatile = true}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  %7 = llvm.mlir.constant(0 : i8) : i8
  "llvm.intr.memset"(%p, %7, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  llvm.intr.lifetime.end %1 : !llvm.ptr
  %8 = llvm.add %4, %6 : i64
  llvm.return %8 : i64
}

// CASE control flow
llvm.func @personality(...) -> i32
llvm.func @h() -> i32
llvm.func @f(%a: i32, %c: i1) -> i32 attributes {personality = @personality} {
  llvm.switch %a : i32, ^bb3 [1: ^bb1, 2: ^bb2] {branch_weights = array<i32: 1, 2, 3>}
^bb1:
  llvm.cond_br %c weights([3, 5]), ^bb2, ^bb3 {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
^bb2:
  %0 = llvm.invoke @h() to ^bb3 unwind ^bb4 : () -> i32
^bb3:
  llvm.return %a : i32
^bb4:
  %1 = llvm.landingpad cleanup : !llvm.struct<(ptr, i32)>
  llvm.resume %1 : !llvm.struct<(ptr, i32)>
}

// CASE calls
llvm.func @h(%a: i32, %p: !llvm.ptr) -> i32
llvm.func @f(%a: i32, %p: !llvm.ptr) -> i32 {
  %0 = llvm.call tail @h(%a, %p) : (i32, !llvm.ptr) -> i32
  %1 = llvm.call notail @h(%0, %p) {no_unwind, will_return, memory_effects = #llvm.memory_effects<other = none, argMem = read, inaccessibleMem = none, errnoMem = none, targetMem0 = none, targetMem1 = none>} : (i32, !llvm.ptr) -> i32
  %2 = llvm.call fastcc @h(%1, %p) {convergent} : (i32, !llvm.ptr {llvm.noundef, llvm.nonnull}) -> (i32 {llvm.range = #llvm.constant_range<i32, 0, 8>})
  %3 = llvm.call @h(%2, %p) ["deopt"(%a : i32)] : (i32, !llvm.ptr) -> i32
  %4 = llvm.call %p(%3) : !llvm.ptr, (i32) -> i32
  %5 = llvm.inline_asm asm_dialect = intel "mov $0, $1", "=r,r" %4 : (i32) -> i32
  %6 = llvm.inline_asm has_side_effects is_align_stack "mov $0, $1", "=r,r,~{memory}" %5 : (i32) -> i32
  llvm.return %6 : i32
}

// CASE vectors and aggregates
llvm.func @f(%v: vector<4xf32>, %w: vector<[4]xi32>, %s: !llvm.struct<"named", (i32, array<2 x f32>)>) -> f32 {
  %0 = llvm.shufflevector %v, %v [0, -1, 4, 1] : vector<4xf32>
  %1 = llvm.intr.vector.reduce.fmax(%0) {fastmathFlags = #llvm.fastmath<nnan>} : (vector<4xf32>) -> f32
  %2 = llvm.extractvalue %s[1, 0] : !llvm.struct<"named", (i32, array<2 x f32>)>
  %3 = llvm.insertvalue %2, %s[1, 1] : !llvm.struct<"named", (i32, array<2 x f32>)>
  %4 = llvm.fadd %1, %2 : f32
  llvm.return %4 : f32
}

// CASE metadata on memory accesses
#domain = #llvm.alias_scope_domain<id = distinct[0]<>, description = "domain">
#scope = #llvm.alias_scope<id = distinct[1]<>, domain = #domain>
#group = #llvm.access_group<id = distinct[2]<>>
#root = #llvm.tbaa_root<id = "root">
#type = #llvm.tbaa_type_desc<id = "float", members = {<#root, 0>}>
#tag = #llvm.tbaa_tag<base_type = #type, access_type = #type, offset = 0>
llvm.func @f(%p: !llvm.ptr) {
  llvm.br ^bb1
^bb1:
  %0 = llvm.load %p {alias_scopes = [#scope], access_groups = [#group], tbaa = [#tag]} : !llvm.ptr -> f32
  llvm.store %0, %p {noalias_scopes = [#scope], tbaa = [#tag]} : f32, !llvm.ptr
  llvm.br ^bb1 {loop_annotation = #llvm.loop_annotation<mustProgress = true, vectorize = <disable = true>, parallelAccesses = <id = distinct[2]<>>>}
}

// CASE byte types
// REFUSED byte types
llvm.func @f(%p: !llvm.ptr) {
  %0 = llvm.load %p : !llvm.ptr -> !llvm.byte<8>
  llvm.return
}

// CASE byte types as arguments
// REFUSED byte types
llvm.func @f(!llvm.byte<64>)

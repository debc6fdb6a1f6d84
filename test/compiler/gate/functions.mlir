// CASE attributes of functions
llvm.func @a() attributes {no_inline, optimize_none, no_unwind, noreturn, cold} {
  llvm.unreachable
}
llvm.func @b() attributes {always_inline, will_return, hot, uwtable_kind = #llvm.uwtableKind<async>, frame_pointer = #llvm.framePointerKind<all>, convergent} {
  llvm.return
}
llvm.func @c() attributes {minsize, optsize, returns_twice, noduplicate, nocallback, nobuiltins = [], target_cpu = "sm_90", tune_cpu = "generic", target_features = #llvm.target_features<["+ptx87", "+sm_90"]>, vscale_range = #llvm.vscale_range<minRange = 2 : i32, maxRange = 4 : i32>} {
  llvm.return
}
llvm.func @d() attributes {alignment = 32 : i64, section = ".text.d", garbageCollector = "statepoint", function_entry_count = 42 : i64, dso_local, no_signed_zeros_fp_math = true, fp_contract = "fast", prefer_vector_width = "256", reciprocal_estimates = "all", instrument_function_entry = "x"} {
  llvm.return
}
llvm.func @e(i64) -> !llvm.ptr attributes {allocsize = array<i32: 0>}
llvm.func @f() attributes {passthrough = ["strictfp", "mustprogress", ["alignstack", "16"], ["key", "value"], "unknown"]} {
  llvm.return
}

// CASE memory effects
llvm.func @a(!llvm.ptr) attributes {memory_effects = #llvm.memory_effects<other = none, argMem = read, inaccessibleMem = readwrite, errnoMem = none, targetMem0 = none, targetMem1 = none>}
llvm.func @b(!llvm.ptr) attributes {memory_effects = #llvm.memory_effects<other = none, argMem = none, inaccessibleMem = none, errnoMem = write, targetMem0 = none, targetMem1 = none>}
llvm.func @c(!llvm.ptr) attributes {memory_effects = #llvm.memory_effects<other = read, argMem = none, inaccessibleMem = read, errnoMem = none, targetMem0 = write, targetMem1 = readwrite>}
llvm.func @d(!llvm.ptr) attributes {memory_effects = #llvm.memory_effects<other = read, argMem = read, inaccessibleMem = read, errnoMem = read, targetMem0 = none, targetMem1 = none>}
llvm.func @e(!llvm.ptr) attributes {memory_effects = #llvm.memory_effects<other = none, argMem = none, inaccessibleMem = none, errnoMem = none, targetMem0 = readwrite, targetMem1 = readwrite>}

// CASE denormals
llvm.func @a() attributes {denormal_fpenv = #llvm.denormal_fpenv<default_output_mode = preservesign, default_input_mode = preservesign, float_output_mode = preservesign, float_input_mode = preservesign>} {
  llvm.return
}
llvm.func @b() attributes {denormal_fpenv = #llvm.denormal_fpenv<default_output_mode = ieee, default_input_mode = ieee, float_output_mode = preservesign, float_input_mode = positivezero>} {
  llvm.return
}

// CASE newer hints
llvm.func @a() attributes {passthrough = ["flatten"]} {
  llvm.return
}
llvm.func @b() attributes {passthrough = ["nooutline", "noinline"]} {
  llvm.return
}
llvm.func @c(%p: !llvm.ptr {llvm.dead_on_return = 8 : i64, llvm.noalias}) {
  llvm.return
}

// CASE no interprocedural analysis
// REFUSED noipa
llvm.func @a() attributes {passthrough = ["noipa"]} {
  llvm.return
}

// CASE attributes of parameters and results
llvm.func @a(%0: !llvm.ptr {llvm.align = 8 : i64, llvm.byval = i32, llvm.noalias}, %1: !llvm.ptr {llvm.byref = i64}, %2: !llvm.ptr {llvm.nocapture, llvm.nofree, llvm.readonly}, %3: i32 {llvm.noundef, llvm.zeroext, llvm.range = #llvm.constant_range<i32, 0, 4>}) {
  llvm.return
}
llvm.func @b(%0: !llvm.ptr {llvm.sret = !llvm.struct<(i32, f32)>, llvm.writable, llvm.dead_on_unwind}, %1: !llvm.ptr {llvm.nest}, %2: i8 {llvm.signext, llvm.inreg}, %3: f32 {llvm.nofpclass = 3 : i64}, %4: !llvm.ptr {llvm.alignstack = 16 : i64, llvm.writeonly}) {
  llvm.return
}
llvm.func @c(%0: !llvm.ptr {llvm.returned, llvm.dereferenceable = 8 : i64}) -> (!llvm.ptr {llvm.nonnull, llvm.noundef, llvm.dereferenceable_or_null = 16 : i64, llvm.align = 8 : i64, llvm.noalias}) {
  llvm.return %0 : !llvm.ptr
}

// CASE calling conventions and linkages
llvm.func ptx_kernelcc @a() {
  llvm.return
}
llvm.func linkonce_odr fastcc @b() {
  llvm.return
}
llvm.func internal coldcc @c() {
  llvm.return
}
llvm.func hidden unnamed_addr @d(i32, ...)
llvm.func swiftcc @e()
llvm.func tailcc @g()
llvm.func preserve_mostcc @h()
llvm.func extern_weak @i()

// CASE kernels
llvm.func @a(%p: !llvm.ptr {llvm.byval = !llvm.struct<(i32, i32)>, nvvm.grid_constant}) attributes {nvvm.kernel, gpu.kernel, nvvm.maxntid = array<i32: 128, 1, 1>, nvvm.reqntid = array<i32: 64, 2>, nvvm.minctasm = 2 : i32, nvvm.maxnreg = 32 : i32, nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.cluster_max_blocks = 8 : i32} {
  llvm.return
}
llvm.func @b() attributes {nvvm.kernel, nvvm.blocksareclusters, nvvm.reqntid = array<i32: 64>, nvvm.cluster_dim = array<i32: 2>} {
  llvm.return
}

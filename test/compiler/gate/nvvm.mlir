// CASE special registers
llvm.func @f() -> i32 {
  %0 = nvvm.read.ptx.sreg.tid.x range <i32, 0, 128> : i32
  %1 = nvvm.read.ptx.sreg.ctaid.y : i32
  %2 = nvvm.read.ptx.sreg.laneid range <i32, 0, 32> : i32
  %3 = nvvm.read.ptx.sreg.cluster.ctarank : i32
  %4 = nvvm.read.ptx.sreg.clock64 : i64
  %5 = nvvm.read.ptx.sreg.globaltimer : i64
  %6 = nvvm.read.ptx.sreg.warpsize : i32
  llvm.return %0 : i32
}

// CASE warps
llvm.func @f(%a: i32, %b: f32, %p: i1) -> i32 {
  %0 = nvvm.shfl.sync bfly %a, %b, %a, %a : f32 -> f32
  %1 = nvvm.shfl.sync down %a, %a, %a, %a {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
  %2 = nvvm.vote.sync ballot %a, %p -> i32
  %3 = nvvm.vote.sync all %a, %p -> i1
  %4 = nvvm.redux.sync add %a, %a : i32 -> i32
  %5 = nvvm.redux.sync fmin %b, %a {abs = true, nan = true} : f32 -> f32
  %6 = nvvm.match.sync any %a, %a : i32 -> i32
  %7 = nvvm.elect.sync -> i1
  nvvm.bar.warp.sync %a : i32
  llvm.return %2 : i32
}

// CASE barriers and fences
llvm.func @f(%a: i32) {
  nvvm.barrier
  nvvm.barrier id = %a number_of_threads = %a
  nvvm.barrier.arrive id = %a number_of_threads = %a
  %0 = "nvvm.barrier.reduction"(%a) <{reductionOp = #nvvm.reduction<popc>}> : (i32) -> i32
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.arrive.relaxed
  nvvm.cluster.wait {aligned}
  nvvm.fence.mbarrier.init
  nvvm.fence.sc.cluster
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
  "nvvm.memory.barrier"() <{scope = #nvvm.mem_scope<gpu>}> : () -> ()
  nvvm.griddepcontrol wait
  nvvm.setmaxregister increase 232
  nvvm.breakpoint
  nvvm.exit
  llvm.return
}

// CASE barriers in shared memory
llvm.func @f(%s: !llvm.ptr<3>, %g: !llvm.ptr, %n: i32, %t: i64) {
  nvvm.mbarrier.init %s, %n : !llvm.ptr<3>, i32
  nvvm.mbarrier.init %g, %n : !llvm.ptr, i32
  %0 = nvvm.mbarrier.arrive %s : !llvm.ptr<3> -> i64
  %1 = nvvm.mbarrier.arrive.expect_tx %s, %n : !llvm.ptr<3>, i32 -> i64
  %2 = nvvm.mbarrier.test.wait %s, %t : !llvm.ptr<3>, i64 -> i1
  %3 = nvvm.mbarrier.try_wait %s, %t : !llvm.ptr<3>, i64 -> i1
  nvvm.mbarrier.inval %s : !llvm.ptr<3>
  nvvm.cp.async.mbarrier.arrive %s : !llvm.ptr<3>
  llvm.return
}

// CASE asynchronous copies
llvm.func @f(%s: !llvm.ptr<3>, %c: !llvm.ptr<7>, %g: !llvm.ptr<1>, %n: i32, %h: i64, %m: i16) {
  nvvm.cp.async.shared.global %s, %g, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %s, %g, 4, cache = ca, %n : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 1
  nvvm.cp.async.bulk.shared.cluster.global %c, %g, %s, %n : !llvm.ptr<7>, !llvm.ptr<1>
  nvvm.cp.async.bulk.global.shared.cta %g, %s, %n : !llvm.ptr<1>, !llvm.ptr<3>
  nvvm.cp.async.bulk.prefetch %g, %n : !llvm.ptr<1>
  nvvm.cp.async.bulk.commit.group
  nvvm.cp.async.bulk.wait_group 0 {read}
  llvm.return
}

// CASE tensor copies
llvm.func @f(%s: !llvm.ptr<3>, %c: !llvm.ptr<7>, %d: !llvm.ptr, %x: i32, %m: i16, %h: i64) {
  nvvm.prefetch tensormap, %d : !llvm.ptr
  nvvm.cp.async.bulk.tensor.shared.cluster.global %c, %d, %s, box [%x, %x] : !llvm.ptr<7>, !llvm.ptr
  nvvm.cp.async.bulk.tensor.shared.cluster.global %c, %d, %s, box [%x, %x, %x] multicast_mask = %m l2_cache_hint = %h : !llvm.ptr<7>, !llvm.ptr
  nvvm.cp.async.bulk.tensor.global.shared.cta %d, %s, box [%x, %x] : !llvm.ptr, !llvm.ptr<3>
  nvvm.cp.async.bulk.tensor.prefetch %d, box [%x, %x] : !llvm.ptr
  llvm.return
}

// CASE reducing tensor copies
llvm.func @f(%s: !llvm.ptr<3>, %d: !llvm.ptr, %x: i32, %h: i64) {
  nvvm.cp.async.bulk.tensor.reduce %d, %s, box [%x, %x] {redKind = #nvvm.tma_redux_kind<add>} : !llvm.ptr, !llvm.ptr<3>
  nvvm.cp.async.bulk.tensor.reduce %d, %s, box [%x] l2_cache_hint = %h {redKind = #nvvm.tma_redux_kind<min>} : !llvm.ptr, !llvm.ptr<3>
  nvvm.cp.async.bulk.tensor.reduce %d, %s, box [%x, %x, %x, %x, %x] {redKind = #nvvm.tma_redux_kind<xor>} : !llvm.ptr, !llvm.ptr<3>
  nvvm.cp.async.bulk.tensor.reduce %d, %s, box [%x, %x, %x] {redKind = #nvvm.tma_redux_kind<inc>, mode = #nvvm.tma_store_mode<im2col>} : !llvm.ptr, !llvm.ptr<3>
  llvm.return
}

// CASE matrices
llvm.func @f(%s: !llvm.ptr<3>, %a: vector<2xf16>, %n: i32, %t: f32) {
  %0 = nvvm.ldmatrix %s {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  nvvm.stmatrix %s, %n {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32
  %1 = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%t, %t, %t, %t] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %2 = nvvm.wmma.load %s, %n {eltype = #nvvm.mma_type<f16>, frag = #nvvm.mma_frag<a>, k = 16 : i32, layout = #nvvm.mma_layout<row>, m = 16 : i32, n = 16 : i32} : (!llvm.ptr<3>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)>
  llvm.return
}

// CASE warpgroup synchronization
llvm.func @f() {
  nvvm.wgmma.fence.aligned
  nvvm.wgmma.commit.group.sync.aligned
  nvvm.wgmma.wait.group.sync.aligned 0
  llvm.return
}

// CASE inline PTX and conversions
llvm.func @f(%a: f32, %b: i32) -> i32 {
  %0 = nvvm.rcp.approx.ftz.f %a : f32
  %1 = nvvm.convert.float.to.tf32 %0 {rnd = #nvvm.fp_rnd_mode<rna>}
  %2 = nvvm.convert.f32x2.to.f8x2 %a, %a {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16 (f8E4M3FN)
  llvm.inline_asm has_side_effects "membar.gl;", "" : () -> ()
  llvm.return %1 : i32
}

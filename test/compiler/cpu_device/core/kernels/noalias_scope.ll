target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
define internal void @st(ptr noalias %a, ptr noalias %b) noinline {
 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
 %v = load i32, ptr %b
 store i32 %v, ptr %a
 ret void }
define ptx_kernel void @k(ptr %out, ptr %in) {
 %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %i = zext i32 %t to i64
 %o = getelementptr i32, ptr %out, i64 %i
 %q = getelementptr i32, ptr %in, i64 %i
 call void @st(ptr %o, ptr %q)
 call void @st(ptr %q, ptr %o)
 ret void }

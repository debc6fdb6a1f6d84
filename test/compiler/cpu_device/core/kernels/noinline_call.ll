target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
define internal void @b() noinline { 
 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
 ret void }
define void @unused() noinline { 
 call void @b()
 ret void }
define ptx_kernel void @k(ptr %out) {
 call void @b() noinline
 store i32 5, ptr %out
 ret void }

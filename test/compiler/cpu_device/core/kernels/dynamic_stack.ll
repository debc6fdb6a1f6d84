target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
define ptx_kernel void @k(ptr %out, i32 %n) {
 %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %i = zext i32 %t to i64
 %a = alloca i32, i32 %n
 %ai = getelementptr i32, ptr %a, i64 3
 store volatile i32 %t, ptr %ai
 %v = load volatile i32, ptr %ai
 %o = getelementptr i32, ptr %out, i64 %i
 store i32 %v, ptr %o
 ret void }
define ptx_kernel void @k2(ptr %out, i32 %n) {
 ret void }

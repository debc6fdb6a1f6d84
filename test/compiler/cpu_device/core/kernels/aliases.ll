target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
@g = internal global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@al = internal alias i32, getelementptr ([4 x i32], ptr @g, i64 0, i64 2)
define internal i32 @f(i32 %x) noinline { 
 %y = mul i32 %x, 3
 ret i32 %y }
@fa = internal alias i32 (i32), ptr @f
define ptx_kernel void @k(ptr %out) {
 %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %i = zext i32 %t to i64
 %o = getelementptr i32, ptr %out, i64 %i
 %v = load volatile i32, ptr @al
 %w = call i32 @fa(i32 %v)
 store i32 %w, ptr %o
 ret void }

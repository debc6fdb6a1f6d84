target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
define ptx_kernel void @k(ptr %out, i32 %n) {
 %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %c = icmp eq i32 %t, %n
 br i1 %c, label %a, label %b
a:
 call void @llvm.nvvm.exit()
 br label %b
b:
 %x = phi i32 [ 1, %0 ], [ 2, %a ]
 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
 %i = zext i32 %t to i64
 %o = getelementptr i32, ptr %out, i64 %i
 store i32 %x, ptr %o
 ret void }

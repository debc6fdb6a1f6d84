target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
define ptx_kernel void @k(ptr %out, i32 %n) {
 %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %i = zext i32 %t to i64
 br label %loop
loop:
 %j = phi i64 [0,%0],[%j2,%loop]
 %s = call ptr @llvm.stacksave.p0()
 %a = alloca i32
 %jj = trunc i64 %j to i32
 store volatile i32 %jj, ptr %a
 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
 %v = load volatile i32, ptr %a
 call void @llvm.stackrestore.p0(ptr %s)
 %o = getelementptr i32, ptr %out, i64 %i
 %w = load i32, ptr %o
 %w2 = add i32 %w, %v
 store i32 %w2, ptr %o
 %j2 = add i64 %j, 1
 %c = icmp ult i64 %j2, 5
 br i1 %c, label %loop, label %e
e:
 ret void }

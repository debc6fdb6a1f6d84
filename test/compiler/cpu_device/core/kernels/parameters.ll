target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
%pair = type { i32, %inner }
%inner = type { [2 x i8], i64 }
%t = type { i32 }
define ptx_kernel void @k(ptr %out, %pair %p, i1 %flag, i8 %c, half %h, <3 x float> %v3, i128 %big) {
 %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %i = zext i32 %tid to i64
 %x = extractvalue %pair %p, 1, 1
 %y = extractvalue %pair %p, 0
 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
 %z = trunc i64 %x to i32
 %f = zext i1 %flag to i32
 %cc = sext i8 %c to i32
 %hh = fptosi half %h to i32
 %e = extractelement <3 x float> %v3, i32 2
 %ee = fptosi float %e to i32
 %bb = lshr i128 %big, 64
 %bbb = trunc i128 %bb to i32
 %s1 = add i32 %y, %z
 %s2 = add i32 %f, %cc
 %s3 = add i32 %hh, %ee
 %s4 = add i32 %s1, %s2
 %s5 = add i32 %s3, %bbb
 %s6 = add i32 %s4, %s5
 %s7 = add i32 %s6, %tid
 %o = getelementptr i32, ptr %out, i64 %i
 store i32 %s7, ptr %o
 ret void }

target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
@s1 = internal addrspace(3) global [32 x i32] undef
@s2 = internal addrspace(3) global [32 x i32] undef
define internal i32 @use({ptr, ptr, i64} %d, <2 x ptr> %v, [2 x ptr] %a, i64 %i) noinline {
 %p = extractvalue {ptr,ptr,i64} %d, 0
 %q = extractvalue {ptr,ptr,i64} %d, 1
 %g = getelementptr i32, ptr %p, i64 %i
 %h = getelementptr i32, ptr %q, i64 %i
 %x = load i32, ptr %g
 %y = load i32, ptr %h
 %e = extractelement <2 x ptr> %v, i32 1
 %k = getelementptr i32, ptr %e, i64 %i
 %z = load i32, ptr %k
 %e2 = extractvalue [2 x ptr] %a, 1
 %k2 = getelementptr i32, ptr %e2, i64 %i
 %w = load i32, ptr %k2
 %r = add i32 %x, %y
 %r2 = shl i32 %z, 8
 %r3 = add i32 %r, %r2
 %r4 = shl i32 %w, 16
 %r5 = add i32 %r3, %r4
 ret i32 %r5 }
define ptx_kernel void @k(ptr %out, i32 %n) {
 %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %i = zext i32 %t to i64
 %a = getelementptr i32, ptr addrspace(3) @s1, i64 %i
 %b = getelementptr i32, ptr addrspace(3) @s2, i64 %i
 store i32 %t, ptr addrspace(3) %a
 %t2 = mul i32 %t, 2
 store i32 %t2, ptr addrspace(3) %b
 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
 %m = and i64 %i, 7
 %r = call i32 @use({ptr,ptr,i64} {ptr addrspacecast (ptr addrspace(3) @s1 to ptr), ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @s2 to ptr), i64 8), i64 3}, <2 x ptr> <ptr addrspacecast (ptr addrspace(3) @s1 to ptr), ptr addrspacecast (ptr addrspace(3) @s2 to ptr)>, [2 x ptr] [ptr null, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @s1 to ptr), i64 4)], i64 %m)
 %st = alloca [2 x ptr]
 store [2 x ptr] [ptr addrspacecast (ptr addrspace(3) @s1 to ptr), ptr addrspacecast (ptr addrspace(3) @s2 to ptr)], ptr %st
 %o = getelementptr i32, ptr %out, i64 %i
 store i32 %r, ptr %o
 ret void }

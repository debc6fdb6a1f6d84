target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.exit()
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
@"odd name!" = internal addrspace(3) global [32 x i32] undef
@"odd name!2" = internal global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
define internal i32 @"func\22x y"(i32 %"a b") noinline { 
 %"q r" = add i32 %"a b", 1
 ret i32 %"q r" }
define ptx_kernel void @"ker nel-1$<int>"(ptr %"the out", i32 %n) {
"entry block":
 %"t id" = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 %"a.b c" = zext i32 %"t id" to i64
 %p = getelementptr i32, ptr addrspace(3) @"odd name!", i64 %"a.b c"
 %v = call i32 @"func\22x y"(i32 %"t id")
 store i32 %v, ptr addrspace(3) %p
 br label %"next block:"
"next block:":
 %"ph i" = phi i32 [ %"t id", %"entry block" ], [ %"z z", %"next block:" ]
 call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
 %"z z" = add i32 %"ph i", 32
 %c = icmp ult i32 %"z z", 100
 br i1 %c, label %"next block:", label %"end: { }"
"end: { }":
 %l = load i32, ptr addrspace(3) %p
 %g = load i32, ptr getelementptr ([4 x i32], ptr @"odd name!2", i64 0, i64 2)
 %m = add i32 %l, %"z z"
 %m2 = add i32 %m, %g
 %"o" = getelementptr i32, ptr %"the out", i64 %"a.b c"
 store i32 %m2, ptr %o
 ret void }

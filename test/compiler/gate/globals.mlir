// CASE linkages
llvm.mlir.global external @a() : i32
llvm.mlir.global private constant @b(1 : i32) : i32
llvm.mlir.global internal @c(1 : i32) : i32
llvm.mlir.global linkonce @d(1 : i32) : i32
llvm.mlir.global linkonce_odr @e(1 : i32) : i32
llvm.mlir.global weak @f(1 : i32) : i32
llvm.mlir.global weak_odr @g(1 : i32) : i32
llvm.mlir.global common @h(0 : i32) : i32
llvm.mlir.global extern_weak @i() : i32
llvm.mlir.global available_externally @j(1 : i32) : i32
llvm.mlir.global appending @k(dense<[1, 2]> : tensor<2xi32>) : !llvm.array<2 x i32>

// CASE attributes of globals
llvm.mlir.global internal thread_local unnamed_addr constant @a(1 : i32) {alignment = 16 : i64, section = ".x", dso_local} : i32
llvm.mlir.global external hidden local_unnamed_addr @b(1 : i32) : i32
llvm.mlir.global external protected @c(1 : i32) {externally_initialized} : i32
llvm.mlir.global external @d() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.mlir.global internal @e() {addr_space = 1 : i32, nvvm.managed} : i32 {
  %0 = llvm.mlir.constant(3 : i32) : i32
  llvm.return %0 : i32
}
llvm.mlir.global internal @g(1 : i32) {target_specific_attrs = ["foo", ["bar", "baz"]]} : i32

// CASE comdats, aliases and resolvers
llvm.comdat @__llvm_comdat {
  llvm.comdat_selector @any any
  llvm.comdat_selector @exact exactmatch
  llvm.comdat_selector @large largest
  llvm.comdat_selector @separate nodeduplicate
  llvm.comdat_selector @same samesize
}
llvm.mlir.global linkonce_odr @any(1 : i32) comdat(@__llvm_comdat::@any) : i32
llvm.mlir.global internal @target(1 : i32) : i32
llvm.mlir.alias external hidden @alias : i32 {
  %0 = llvm.mlir.addressof @target : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
llvm.mlir.ifunc external @dispatch : !llvm.func<void ()>, !llvm.ptr @resolve
llvm.func @resolve() -> !llvm.ptr {
  %0 = llvm.mlir.zero : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
llvm.func @f() comdat(@__llvm_comdat::@any) {
  llvm.return
}

// CASE constructors, destructors, flags and options
llvm.mlir.global_ctors ctors = [@f], priorities = [101 : i32], data = [#llvm.zero]
llvm.mlir.global_dtors dtors = [@f], priorities = [0 : i32], data = [#llvm.zero]
llvm.module_flags [#llvm.mlir.module_flag<error, "wchar_size", 4 : i32>, #llvm.mlir.module_flag<max, "PIC Level", 2 : i32>, #llvm.mlir.module_flag<override, "nvvm-reflect-ftz", 1 : i32>]
llvm.linker_options ["-lm"]
llvm.func @f() {
  llvm.return
}

// CASE module assembly
module attributes {llvm.module_asm = [".globl x", "x: .ascii \"a;b\"\0A.byte 1"], llvm.ident = "compiler", llvm.commandline = "cc -c", llvm.dependent_libraries = ["m"]} {
  llvm.func @f() {
    llvm.return
  }
}

// CASE target of the module
module attributes {llvm.data_layout = "e-i64:64", llvm.target_triple = "nvptx64-nvidia-cuda"} {
  llvm.func @f(%p: !llvm.ptr) -> i64 {
    %0 = llvm.load %p : !llvm.ptr -> i64
    llvm.return %0 : i64
  }
}

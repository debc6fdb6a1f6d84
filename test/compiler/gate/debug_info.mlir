// CASE line tables
#file = #llvm.di_file<"a.mlir" in "/src">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C, file = #file, producer = "hirc", isOptimized = true, emissionKind = LineTablesOnly>
#type = #llvm.di_subroutine_type<callingConvention = DW_CC_normal>
#function = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file, name = "f", linkageName = "f", file = #file, line = 3, scopeLine = 3, subprogramFlags = "Definition|Optimized", type = #type>
llvm.func @f(%a: f32) -> f32 {
  %0 = llvm.mlir.constant(0.1 : f32) : f32 loc(#line)
  %1 = llvm.fadd %a, %0 : f32 loc(#inlined)
  llvm.return %1 : f32 loc(#line)
} loc(fused<#function>["a.mlir":3:1])
#line = loc("a.mlir":4:7)
#inlined = loc(callsite(fused<#function>["a.mlir":5:2] at "a.mlir":4:3))

// CASE variables and types
#file = #llvm.di_file<"a.c" in "/src">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C11, file = #file, producer = "hirc", isOptimized = false, emissionKind = Full, nameTableKind = None>
#int = #llvm.di_basic_type<tag = DW_TAG_base_type, name = "int", sizeInBits = 32, encoding = DW_ATE_signed>
#null = #llvm.di_null_type
#pointer = #llvm.di_derived_type<tag = DW_TAG_pointer_type, name = "p", baseType = #int, sizeInBits = 64, alignInBits = 32, dwarfAddressSpace = 3>
#structure = #llvm.di_composite_type<tag = DW_TAG_structure_type, name = "s", file = #file, line = 1, sizeInBits = 64, flags = TypePassByValue, elements = #int, #pointer>
#array = #llvm.di_composite_type<tag = DW_TAG_array_type, baseType = #int, sizeInBits = 128, elements = #llvm.di_subrange<count = 4 : i64>>
#type = #llvm.di_subroutine_type<callingConvention = DW_CC_normal, types = #null, #int, #pointer, #structure, #array>
#function = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file, name = "f", file = #file, line = 3, scopeLine = 3, subprogramFlags = Definition, type = #type>
#block = #llvm.di_lexical_block<scope = #function, file = #file, line = 5, column = 2>
#variable = #llvm.di_local_variable<scope = #block, name = "v", file = #file, line = 6, arg = 1, alignInBits = 32, type = #int>
#label = #llvm.di_label<scope = #block, name = "l", file = #file, line = 7>
#global = #llvm.di_global_variable<scope = #unit, name = "g", linkageName = "g", file = #file, line = 9, type = #int, isLocalToUnit = true, isDefined = true, alignInBits = 32>
llvm.mlir.global internal @g(1 : i32) {dbg_exprs = [#llvm.di_global_variable_expression<var = #global, expr = <>>]} : i32
llvm.func @f(%a: i32) {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x i32 : (i32) -> !llvm.ptr loc(#line)
  llvm.intr.dbg.declare #variable = %1 : !llvm.ptr loc(#line)
  llvm.intr.dbg.value #variable #llvm.di_expression<[DW_OP_LLVM_fragment(0, 16)]> = %a : i32 loc(#line)
  llvm.intr.dbg.label #label loc(#line)
  llvm.return loc(#line)
} loc(fused<#function>["a.c":3:1])
#line = loc(fused<#block>["a.c":6:4])

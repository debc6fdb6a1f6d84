"""Operations of the llvm dialect that are made by name are what MLIR reads from their text."""

from __future__ import annotations

from hirc.dialects import llvm
from hirc.dialects.mlir import context, ir

_TEXT = """
llvm.mlir.global external @plain(7 : i64) : i64
llvm.mlir.global internal unnamed_addr constant @text("ab") {alignment = 8 : i64}
  : !llvm.array<2 x i8>
llvm.mlir.global linkonce_odr hidden constant @pair() {section = "places"}
  : !llvm.struct<(i64, ptr)> {
  %0 = llvm.mlir.addressof @plain : !llvm.ptr
  %1 = llvm.mlir.undef : !llvm.struct<(i64, ptr)>
  %2 = llvm.insertvalue %0, %1[1] : !llvm.struct<(i64, ptr)>
  llvm.return %2 : !llvm.struct<(i64, ptr)>
}
llvm.func @there(!llvm.ptr) -> i64 attributes {no_inline, sym_visibility = "private"}
llvm.func weak_odr @f(%x: i64, %p: !llvm.ptr) -> i64 {
  %0 = llvm.mlir.constant(1 : i64) : i64
  %1 = llvm.alloca %0 x i64 {alignment = 16 : i64} : (i64) -> !llvm.ptr
  %2 = llvm.getelementptr %p[2, %x] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x i64>
  %3 = llvm.load %2 : !llvm.ptr -> i64
  %4 = llvm.load %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %5 = llvm.mul %3, %x : i64
  llvm.store %5, %1 : i64, !llvm.ptr
  %6 = llvm.mlir.zero : !llvm.ptr
  %7 = llvm.icmp "eq" %4, %6 : !llvm.ptr
  %8 = llvm.select %7, %p, %4 : i1, !llvm.ptr
  %9 = llvm.ptrtoint %8 : !llvm.ptr to i64
  %10 = llvm.call @there(%p) : (!llvm.ptr) -> i64
  %11 = llvm.mlir.undef : !llvm.struct<(i64, i64)>
  %12 = llvm.extractvalue %11[1] : !llvm.struct<(i64, i64)>
  llvm.br ^bb1
^bb1:
  llvm.return %9 : i64
}
llvm.func @nothing() {
  llvm.call @nothing() : () -> ()
  llvm.return
}
"""


def _made() -> ir.Module:
    parse = ir.Type.parse
    i64, ptr = ir.IntegerType.get_signless(64), llvm.PointerType.get()
    pair = parse("!llvm.struct<(i64, ptr)>")
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        llvm.variable("plain", i64, "external", value=ir.IntegerAttr.get(i64, 7))
        llvm.variable(
            "text",
            parse("!llvm.array<2 x i8>"),
            "internal",
            value=ir.StringAttr.get("ab"),
            is_constant=True,
            may_be_merged=True,
            alignment=8,
        )
        constant = llvm.variable(
            "pair", pair, "linkonce_odr", is_constant=True, is_hidden=True, section="places"
        )
        kind = parse("!llvm.func<i64 (ptr)>")
        llvm.function("there", kind, is_private=True, is_inlined=False)
        function = llvm.function("f", parse("!llvm.func<i64 (i64, ptr)>"), linkage="weak_odr")
        nothing = llvm.function("nothing", parse("!llvm.func<void ()>"))
    with ir.InsertionPoint(constant.regions[0].blocks.append()):
        address = llvm.address_of(ir.FlatSymbolRefAttr.get("plain"))
        llvm.end(llvm.insert(llvm.undefined(pair), address, [1]))
    block = function.regions[0].blocks.append(i64, ptr)
    following = block.create_after()
    x, p = block.arguments
    with ir.InsertionPoint(block):
        slot = llvm.allocate(i64, llvm.constant(i64, ir.IntegerAttr.get(i64, 1)), alignment=16)
        there = llvm.element_address(p, parse("!llvm.array<4 x i64>"), 2, x)
        read = llvm.load(i64, there)
        acquired = llvm.load_acquired(ptr, p, 8)
        llvm.store(llvm.multiply(read, x), slot)
        chosen = llvm.select(llvm.equal(acquired, llvm.zero(ptr)), p, acquired)
        number = llvm.number_of(chosen)
        llvm.call(i64, ir.FlatSymbolRefAttr.get("there"), [p])
        llvm.extract(i64, llvm.undefined(parse("!llvm.struct<(i64, i64)>")), [1])
        llvm.branch(following)
    with ir.InsertionPoint(following):
        llvm.end(number)
    with ir.InsertionPoint(nothing.regions[0].blocks.append()):
        llvm.call(None, ir.FlatSymbolRefAttr.get("nothing"), [])
        llvm.end()
    return module


def test_what_is_made_by_name_is_what_its_text_says() -> None:
    with context(), ir.Location.unknown():
        made, read = _made(), ir.Module.parse(_TEXT)
        made.operation.verify()
        assert str(made).splitlines() == str(read).splitlines()

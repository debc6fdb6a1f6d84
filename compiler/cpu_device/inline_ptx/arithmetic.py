"""PTX of one thread's registers: moves, integer arithmetic, comparisons."""

from __future__ import annotations

import re

from .handlers import Handlers, parts_between
from .syntax import PtxInstruction
from .writer import TYPES, Writer, bits_of

HANDLERS = Handlers()


def type_suffix(it: PtxInstruction) -> str:
    """Returns the last part of the opcode."""
    return it.opcode.rsplit(".", 1)[1]


def llvm_type(it: PtxInstruction) -> str:
    """Returns the LLVM type of the opcode's last part."""
    return TYPES[type_suffix(it)]


def sources(w: Writer, it: PtxInstruction, type_: str) -> list[str]:
    """Returns the values of all operands but the first."""
    return [w.read(operand, type_) for operand in it.operands[1:]]


@HANDLERS.add(r"mov\.(pred|[busf]\d+|bf16|f16x2)")
def _mov(w: Writer, it: PtxInstruction) -> None:
    to, source = it.operands
    type_ = llvm_type(it)
    if source.startswith("{"):
        pieces = parts_between(source)
        width = bits_of(type_) // len(pieces)
        whole = "0"
        for number, piece in enumerate(pieces):
            wide = w.convert(w.read(piece, f"i{width}"), f"i{width}", type_)
            shifted = w.emit(f"shl {type_} {wide}, {number * width}")
            whole = w.emit(f"or {type_} {whole}, {shifted}")
        w.assign(to, type_, whole)
    elif to.startswith("{"):
        pieces = parts_between(to)
        width = bits_of(type_) // len(pieces)
        whole = w.read(source, f"i{bits_of(type_)}")
        for number, piece in enumerate(pieces):
            part = w.emit(f"lshr i{bits_of(type_)} {whole}, {number * width}")
            w.assign(piece, f"i{width}", w.convert(part, f"i{bits_of(type_)}", f"i{width}"))
    elif source.startswith("%") and w.type_of(source) is None:
        register = re.sub(r"^(lanemask|cluster)_", r"\1.", source[1:])
        result = "i64" if register in ("clock64", "globaltimer", "gridid") else "i32"
        w.assign(to, result, w.call(result, f"llvm.nvvm.read.ptx.sreg.{register}", []))
    else:
        w.assign(to, type_, w.read(source, type_))


_PLAIN = {
    "and": "and",
    "or": "or",
    "xor": "xor",
    "mul.lo": "mul",
    "div.s": "sdiv",
    "div.u": "udiv",
    "rem.s": "srem",
    "rem.u": "urem",
}


@HANDLERS.add(r"(and|or|xor)\.(pred|b\d+)|(mul\.lo|add|sub)\.[us]\d+|(div|rem)\.[us]\d+")
def _integer(w: Writer, it: PtxInstruction) -> None:
    type_ = llvm_type(it)
    name, suffix = it.opcode.rsplit(".", 1)
    name = f"{name}.{suffix[0]}" if name in ("div", "rem") else name
    a, b = sources(w, it, type_)
    w.assign(it.operands[0], type_, w.emit(f"{_PLAIN.get(name, name)} {type_} {a}, {b}"))


@HANDLERS.add(r"not\.(pred|b\d+)|neg\.s\d+")
def _unary(w: Writer, it: PtxInstruction) -> None:
    type_ = llvm_type(it)
    value = w.read(it.operands[1], type_)
    text = f"xor {type_} {value}, -1" if it.opcode.startswith("not") else f"sub {type_} 0, {value}"
    w.assign(it.operands[0], type_, w.emit(text))


@HANDLERS.add(r"(shl|shr)\.[bus]\d+")
def _shift(w: Writer, it: PtxInstruction) -> None:
    type_ = llvm_type(it)
    value = w.read(it.operands[1], type_)
    amount = w.convert(w.read(it.operands[2], "i32"), "i32", type_)
    # PTX limits the amount to the width, where LLVM's result is poison.
    most = bits_of(type_)
    signed = ".s" in it.opcode
    limit = most - 1 if signed else most
    name = "shl" if it.opcode.startswith("shl") else "ashr" if signed else "lshr"
    limited = w.call(type_, f"llvm.umin.{type_}", [(type_, amount), (type_, str(most - 1))])
    result = w.emit(f"{name} {type_} {value}, {limited}")
    if not signed:
        beyond = w.emit(f"icmp uge {type_} {amount}, {limit}")
        result = w.emit(f"select i1 {beyond}, {type_} 0, {type_} {result}")
    w.assign(it.operands[0], type_, result)


@HANDLERS.add(r"(mul|mad)\.wide\.[us](16|32)|mad\.lo\.[us]\d+")
def _wide(w: Writer, it: PtxInstruction) -> None:
    narrow = llvm_type(it)
    wide = f"i{2 * bits_of(narrow)}" if ".wide" in it.opcode else narrow
    extend = "sext" if ".s" in it.opcode else "zext"
    a, b = w.read(it.operands[1], narrow), w.read(it.operands[2], narrow)
    if wide != narrow:
        a = w.emit(f"{extend} {narrow} {a} to {wide}")
        b = w.emit(f"{extend} {narrow} {b} to {wide}")
    result = w.emit(f"mul {wide} {a}, {b}")
    if it.opcode.startswith("mad"):
        result = w.emit(f"add {wide} {result}, {w.read(it.operands[3], wide)}")
    w.assign(it.operands[0], wide, result)


@HANDLERS.add(r"mul\.hi\.[us](32|64)")
def _high(w: Writer, it: PtxInstruction) -> None:
    type_, extend = llvm_type(it), "sext" if ".s" in it.opcode else "zext"
    width = bits_of(type_)
    a, b = (w.emit(f"{extend} {type_} {v} to i{2 * width}") for v in sources(w, it, type_))
    product = w.emit(f"mul i{2 * width} {a}, {b}")
    high = w.emit(f"lshr i{2 * width} {product}, {width}")
    w.assign(it.operands[0], type_, w.emit(f"trunc i{2 * width} {high} to {type_}"))


@HANDLERS.add(r"(min|max)\.[us]\d+")
def _extreme(w: Writer, it: PtxInstruction) -> None:
    type_ = llvm_type(it)
    name = f"llvm.{type_suffix(it)[0]}{it.opcode[:3]}.{type_}"
    a, b = sources(w, it, type_)
    w.assign(it.operands[0], type_, w.call(type_, name, [(type_, a), (type_, b)]))


@HANDLERS.add(r"(popc|clz|brev)\.b(32|64)|abs\.s\d+")
def _count(w: Writer, it: PtxInstruction) -> None:
    type_, name = llvm_type(it), it.opcode.split(".")[0]
    intrinsic = {"popc": "ctpop", "clz": "ctlz", "brev": "bitreverse", "abs": "abs"}[name]
    arguments = [(type_, w.read(it.operands[1], type_))]
    if name in ("clz", "abs"):
        arguments.append(("i1", "false"))
    value = w.call(type_, f"llvm.{intrinsic}.{type_}", arguments)
    w.assign(it.operands[0], type_, value)


@HANDLERS.add(r"lop3\.b32")
def _lop3(w: Writer, it: PtxInstruction) -> None:
    a, b, c = (w.read(operand, "i32") for operand in it.operands[1:4])
    table = w.constant(it.operands[4])
    result = "0"
    for row in range(8):
        if table >> row & 1:
            bits = [
                value if row >> place & 1 else w.emit(f"xor i32 {value}, -1")
                for value, place in ((a, 2), (b, 1), (c, 0))
            ]
            both = w.emit(f"and i32 {bits[0]}, {bits[1]}")
            result = w.emit(f"or i32 {result}, {w.emit(f'and i32 {both}, {bits[2]}')}")
    w.assign(it.operands[0], "i32", result)


@HANDLERS.add(r"prmt\.b32(\.(f4e|b4e|rc8|rc16|ecl|ecr))?")
def _prmt(w: Writer, it: PtxInstruction) -> None:
    _, _, mode = it.opcode.partition(".b32")
    a, b, c = sources(w, it, "i32")
    arguments = [a, c] if mode in (".rc8", ".rc16", ".ecl", ".ecr") else [a, b, c]
    name = f"llvm.nvvm.prmt{mode}"
    w.assign(it.operands[0], "i32", w.call("i32", name, [("i32", value) for value in arguments]))


@HANDLERS.add(r"shf\.[lr]\.(clamp|wrap)\.b32")
def _funnel(w: Writer, it: PtxInstruction) -> None:
    low, high, amount = sources(w, it, "i32")
    _, side, mode, _ = it.opcode.split(".")
    name = f"llvm.nvvm.fsh{side}.clamp.i32" if mode == "clamp" else f"llvm.fsh{side}.i32"
    arguments = [("i32", high), ("i32", low), ("i32", amount)]
    w.assign(it.operands[0], "i32", w.call("i32", name, arguments))


@HANDLERS.add(r"bfe\.[us](32|64)")
def _extract(w: Writer, it: PtxInstruction) -> None:
    type_ = llvm_type(it)
    width = bits_of(type_)
    value = w.read(it.operands[1], type_)
    start, length = (
        w.convert(w.emit(f"and i32 {w.read(operand, 'i32')}, 255"), "i32", type_)
        for operand in it.operands[2:4]
    )
    # In twice the width nothing is lost: shift the field to the top, then down again.
    wide, kind = f"i{4 * width}", "s" if ".s" in it.opcode else "u"
    extended = w.emit(f"{'sext' if kind == 's' else 'zext'} {type_} {value} to {wide}")
    shift = "ashr" if kind == "s" else "lshr"
    moved = w.emit(f"{shift} {wide} {extended}, {_limited(w, start, type_, wide)}")
    up = w.emit(f"sub {wide} {4 * width}, {_limited(w, length, type_, wide)}")
    up = w.emit(f"and {wide} {up}, {4 * width - 1}")
    top = w.emit(f"shl {wide} {moved}, {up}")
    field = w.emit(f"{shift} {wide} {top}, {up}")
    empty = w.emit(f"icmp eq {type_} {length}, 0")
    result = w.emit(f"select i1 {empty}, {wide} 0, {wide} {field}")
    w.assign(it.operands[0], type_, w.emit(f"trunc {wide} {result} to {type_}"))


def _limited(w: Writer, value: str, type_: str, wide: str) -> str:
    most = bits_of(type_)
    least = w.call(type_, f"llvm.umin.{type_}", [(type_, value), (type_, str(most))])
    return w.emit(f"zext {type_} {least} to {wide}")


_COMPARISONS = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


@HANDLERS.add(r"setp\.(eq|ne|[lg][te]u?|equ|neu|lo|ls|hi|hs|num|nan)(\.ftz)?\.[busf]\d+")
def _setp(w: Writer, it: PtxInstruction) -> None:
    comparison, type_, suffix = it.opcode.split(".")[1], llvm_type(it), type_suffix(it)
    a, b = sources(w, it, type_)
    if suffix[0] == "f":
        unordered = comparison.endswith("u")
        names = {"num": "ord", "nan": "uno"}
        plain = comparison.removesuffix("u") if unordered else comparison
        name = names.get(comparison, ("u" if unordered else "o") + plain)
        w.assign(it.operands[0], "i1", w.emit(f"fcmp {name} {type_} {a}, {b}"))
        return
    name = _COMPARISONS.get(comparison) or _UNSIGNED[comparison]
    if name not in ("eq", "ne"):
        name = ("s" if suffix[0] == "s" else "u") + name
    w.assign(it.operands[0], "i1", w.emit(f"icmp {name} {type_} {a}, {b}"))


@HANDLERS.add(r"selp\.[busf]\d+")
def _selp(w: Writer, it: PtxInstruction) -> None:
    type_ = llvm_type(it)
    a, b = (w.read(operand, type_) for operand in it.operands[1:3])
    condition = w.read(it.operands[3], "i1")
    w.assign(it.operands[0], type_, w.emit(f"select i1 {condition}, {type_} {a}, {type_} {b}"))


@HANDLERS.add(r"bfind(\.shiftamt)?\.[us](32|64)")
def _find_leading(w: Writer, it: PtxInstruction) -> None:
    """The place of the highest bit that is not the sign's, or how far to shift to bring it up."""
    kind = it.opcode.rsplit(".", 1)[1]
    type_ = TYPES[kind]
    shift = "true" if ".shiftamt" in it.opcode else "false"
    value = w.read(it.operands[1], type_)
    operands = [(type_, value), ("i1", shift)]
    w.assign(it.operands[0], "i32", w.call("i32", f"llvm.nvvm.flo.{kind[0]}.{type_}", operands))

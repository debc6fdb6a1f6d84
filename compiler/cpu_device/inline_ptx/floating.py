"""Floating-point arithmetic of PTX."""

from __future__ import annotations

import re

from .arithmetic import llvm_type, sources, type_suffix
from .handlers import Handlers
from .syntax import PtxInstruction
from .writer import Writer, bits_of

HANDLERS = Handlers()
_LETTER = {"f32": "f", "f64": "d"}


@HANDLERS.add(r"(add|sub|mul)(\.r[nzmp])?(\.ftz)?\.f(32|64)")
def _float(w: Writer, it: PtxInstruction) -> None:
    match = re.fullmatch(r"(add|sub|mul)(?:\.(r[nzmp]))?(\.ftz)?\.(f32|f64)", it.opcode)
    assert match is not None
    type_ = llvm_type(it)
    a, b = sources(w, it, type_)
    mode, ftz = match[2] or "rn", match[3] or ""
    if mode == "rn" and not ftz:
        result = w.emit(f"f{match[1]} {type_} {a}, {b}")
    else:
        name = match[1]
        if name == "sub":
            name, b = "add", w.emit(f"fneg {type_} {b}")
        full = f"llvm.nvvm.{name}.{mode}{ftz}.{_LETTER[match[4]]}"
        result = w.call(type_, full, [(type_, a), (type_, b)])
    w.assign(it.operands[0], type_, result)


@HANDLERS.add(r"(add|sub|mul)(\.rn)?\.(f16|bf16)(x2)?")
def _half(w: Writer, it: PtxInstruction) -> None:
    type_ = llvm_type(it)
    a, b = sources(w, it, type_)
    result = w.emit(f"f{it.opcode[:3]} {type_} {a}, {b}")
    w.assign(it.operands[0], type_, result)


@HANDLERS.add(
    r"(fma|mad)\.r[nzmp](\.ftz)?(\.sat)?\.f(32|64)|fma\.rn(\.ftz)?(\.sat|\.relu)?\.b?f16(x2)?"
)
def _fma(w: Writer, it: PtxInstruction) -> None:
    type_, head = llvm_type(it), it.opcode.replace("mad", "fma").rsplit(".", 1)[0]
    name = f"llvm.nvvm.{head}.{_LETTER.get(type_suffix(it), type_suffix(it))}"
    values = [(type_, value) for value in sources(w, it, type_)]
    w.assign(it.operands[0], type_, w.call(type_, name, values))


@HANDLERS.add(r"(min|max)(\.ftz)?(\.NaN)?(\.xorsign\.abs)?\.(f32|f64|b?f16(x2)?)")
def _float_extreme(w: Writer, it: PtxInstruction) -> None:
    type_, parts = llvm_type(it), it.opcode.lower().split(".")
    parts[0], parts[-1] = f"f{parts[0]}", _LETTER.get(parts[-1], parts[-1])
    values = [(type_, value) for value in sources(w, it, type_)]
    w.assign(it.operands[0], type_, w.call(type_, "llvm.nvvm." + ".".join(parts), values))


@HANDLERS.add(r"(neg|abs)(\.ftz)?\.(f32|f64|b?f16(x2)?)")
def _sign(w: Writer, it: PtxInstruction) -> None:
    type_ = llvm_type(it)
    value = w.read(it.operands[1], type_)
    if it.opcode.startswith("neg"):
        result = w.emit(f"fneg {type_} {value}")
    else:
        integer = f"i{bits_of(type_)}"
        mask = 0x7FFF7FFF if type_.startswith("<") else (1 << (bits_of(type_) - 1)) - 1
        bits = w.emit(f"and {integer} {w.convert(value, type_, integer)}, {mask}")
        result = w.convert(bits, integer, type_)
    w.assign(it.operands[0], type_, result)


@HANDLERS.add(
    r"(lg2|rsqrt|sin|cos|sqrt|rcp|div)\.(approx|full)(\.ftz)?\.f(32|64)|(sqrt|rcp|div)\.r[nzmp](\.ftz)?\.f(32|64)"
)
def _function(w: Writer, it: PtxInstruction) -> None:
    type_, suffix = llvm_type(it), type_suffix(it)
    values = [(type_, value) for value in sources(w, it, type_)]
    if it.opcode.startswith("rcp.approx.f"):  # there is no intrinsic without .ftz
        result = w.call(type_, f"llvm.nvvm.rcp.rn.{_LETTER[suffix]}", values)
    elif it.opcode.startswith("div.full"):
        result = w.call(type_, "llvm.nvvm." + it.opcode.removesuffix(".f32"), values)
    else:
        name = it.opcode.rsplit(".", 1)[0]
        result = w.call(type_, f"llvm.nvvm.{name}.{_LETTER[suffix]}", values)
    w.assign(it.operands[0], type_, result)


@HANDLERS.add(r"ex2\.approx(\.ftz)?\.(f32|b?f16(x2)?)|tanh\.approx\.(f32|b?f16(x2)?)")
def _exponential(w: Writer, it: PtxInstruction) -> None:
    type_ = llvm_type(it)
    suffix = type_suffix(it)
    element = f"v2{suffix.removesuffix('x2')}" if suffix.endswith("x2") else suffix
    head = it.opcode.rsplit(".", 1)[0]
    name = f"llvm.tanh.{element}" if head.startswith("tanh") else f"llvm.nvvm.{head}.{element}"
    value = w.read(it.operands[1], type_)
    w.assign(it.operands[0], type_, w.call(type_, name, [(type_, value)]))

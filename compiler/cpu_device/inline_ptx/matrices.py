"""Matrix instructions, as calls that `operations.matrices` knows."""

from __future__ import annotations

import re

from ...errors import UnsupportedError
from .handlers import Handlers, parts_between
from .syntax import PtxInstruction
from .writer import Writer

HANDLERS = Handlers()
_SHARED = r"(?:\.shared(?:::cta)?)?"
_MMA = re.compile(
    r"mma\.sync\.aligned\.(?P<shape>m\d+n\d+k\d+)\.(?P<layout>(?:row|col)\.(?:row|col))"
    r"(?P<satfinite>\.satfinite)?\.(?P<types>\w+\.\w+\.\w+\.\w+)(?:\.(?P<bits>xor|and)\.popc)?"
)
_WGMMA = re.compile(
    r"wgmma\.mma_async\.sync\.aligned\.m64n(?P<n>\d+)k\d+(?P<satfinite>\.satfinite)?"
    r"\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)(?P<bits>\.and\.popc)?(?P<late>\.satfinite)?"
)


def _registers(type_: str) -> str:
    return {"f32": "float", "f64": "double"}.get(type_, "i32")


def _values(w: Writer, operand: str, type_: str) -> list[tuple[str, str]]:
    names = parts_between(operand) if operand.startswith("{") else (operand,)
    return [(type_, w.read(name, type_)) for name in names]


def _give(w: Writer, operand: str, type_: str, name: str, arguments: list[tuple[str, str]]) -> None:
    """Calls a function whose result has a field for each register of the operand."""
    names = parts_between(operand) if operand.startswith("{") else (operand,)
    if len(names) == 1:
        w.assign(names[0], type_, w.call(type_, name, arguments))
        return
    struct = f"{{ {', '.join([type_] * len(names))} }}"
    value = w.call(struct, name, arguments)
    for number, register in enumerate(names):
        w.assign(register, type_, w.emit(f"extractvalue {struct} {value}, {number}"))


@HANDLERS.add(r"(mma|wgmma)\..*sp\..*|tcgen05\..*|mma\..*(block_scale|kind::).*")
def _refused(w: Writer, it: PtxInstruction) -> None:
    del w
    raise UnsupportedError(
        f"{it.opcode}: the CPU device cannot do this instruction", stage="cpu-device"
    )


@HANDLERS.add(_MMA.pattern)
def _mma(w: Writer, it: PtxInstruction) -> None:
    match = _MMA.fullmatch(it.opcode)
    assert match is not None
    d, a, b, c = match["types"].split(".")
    bits = f".{match['bits']}.popc" if match["bits"] else ""
    satfinite = match["satfinite"] or ""
    name = f"hirc.ptx.mma{bits}.{match['shape']}.{match['layout']}{satfinite}.{d}.{a}.{b}.{c}"
    # f32 as the type of a or b is no type of mma: they are bits.
    arguments = _values(w, it.operands[1], "double" if a == "f64" else "i32")
    arguments += _values(w, it.operands[2], "double" if b == "f64" else "i32")
    arguments += _values(w, it.operands[3], _registers(c))
    _give(w, it.operands[0], _registers(d), name, arguments)


@HANDLERS.add(rf"ldmatrix\.sync\.aligned\.m8n8\.x[124](\.trans)?{_SHARED}\.b16")
def _ldmatrix(w: Writer, it: PtxInstruction) -> None:
    name = "hirc.ptx." + re.sub(r"\.shared(::cta)?", "", it.opcode)
    _give(w, it.operands[0], "i32", name, [("ptr", w.address(it.operands[1]))])


@HANDLERS.add(r"movmatrix\.sync\.aligned\.m8n8\.trans\.b16")
def _movmatrix(w: Writer, it: PtxInstruction) -> None:
    value = ("i32", w.read(it.operands[1], "i32"))
    w.assign(it.operands[0], "i32", w.call("i32", f"hirc.ptx.{it.opcode}", [value]))


@HANDLERS.add(rf"stmatrix\.sync\.aligned\.m8n8\.x[124](\.trans)?{_SHARED}\.b16")
def _stmatrix(w: Writer, it: PtxInstruction) -> None:
    name = "hirc.ptx." + re.sub(r"\.shared(::cta)?", "", it.opcode)
    arguments = [("ptr", w.address(it.operands[0])), *_values(w, it.operands[1], "i32")]
    w.call("void", name, arguments)


@HANDLERS.add(r"wgmma\.(fence|commit_group)\.sync\.aligned")
def _wgmma_order(w: Writer, it: PtxInstruction) -> None:
    w.call("void", f"hirc.nvvm.{it.opcode}", [])


@HANDLERS.add(r"wgmma\.wait_group\.sync\.aligned")
def _wgmma_wait(w: Writer, it: PtxInstruction) -> None:
    w.call("void", f"hirc.nvvm.{it.opcode}", [("i64", w.read(it.operands[0], "i64"))])


@HANDLERS.add(_WGMMA.pattern)
def _wgmma(w: Writer, it: PtxInstruction) -> None:
    match = _WGMMA.fullmatch(it.opcode)
    assert match is not None
    to, a, b, scale_d, *immediates = it.operands
    from_registers = a.startswith("{")
    numbers = [w.constant(operand) for operand in immediates]
    # scale-a, scale-b, then trans-a (of a descriptor only) and trans-b (16-bit types only)
    scale_a, scale_b = numbers[:2] if len(numbers) > 1 else (1, 1)
    transposed = numbers[2:] if len(numbers) > 2 else [0, 0]
    if len(transposed) == 1:
        transposed = [0, transposed[0]]
    if len(transposed) > 1 and from_registers:
        transposed = [0, transposed[-1]]
    source = "registers" if from_registers else "descriptor"
    name = (
        f"hirc.ptx.wgmma.n{match['n']}.{match['d']}.{match['a']}.{match['b']}.{source}"
        f".{_sign(scale_a)}.{_sign(scale_b)}.{transposed[0] & 1}.{transposed[1] & 1}"
    )
    name += ".satfinite" if match["satfinite"] or match["late"] else ""
    registers = _registers(match["d"])
    arguments = _values(w, to, registers)
    arguments += _values(w, a, "i32" if from_registers else "i64")
    arguments += [("i64", w.read(b, "i64")), ("i1", w.read(scale_d, "i1"))]
    _give(w, to, registers, name, arguments)


def _sign(scale: int) -> int:
    return -1 if scale in (-1, 0xFFFFFFFF) else 1

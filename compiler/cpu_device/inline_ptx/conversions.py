"""cvt and cvta."""

from __future__ import annotations

import re

from .handlers import Handlers
from .syntax import PtxInstruction
from .writer import TYPES, Writer, bits_of

HANDLERS = Handlers()
_CVT = re.compile(
    r"cvt(?:\.(?P<round>r[nzmpa]i?))?(?P<relu>\.relu)?(?P<ftz>\.ftz)?(?P<sat>\.sat(?:finite)?)?(?P<relu2>\.relu)?"
    r"\.(?P<to>\w+)\.(?P<own>\w+)"
)
_INTEGER_NAMES = {"s32": "i", "u32": "ui", "s64": "ll", "u64": "ull"}
_FLOAT_LETTERS = {"f32": "f", "f64": "d"}
_ROUND_TO_INTEGER = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


@HANDLERS.add(r"cvta(\.to)?\.(shared|global|local|const|param)(::\w+)?\.u(32|64)")
def _cvta(w: Writer, it: PtxInstruction) -> None:
    w.assign(it.operands[0], "i64", w.read(it.operands[1], "i64"))


@HANDLERS.add(r"cvt\..*")
def _cvt(w: Writer, it: PtxInstruction) -> None:
    match = _CVT.fullmatch(it.opcode)
    if match is None or match["to"] not in (*TYPES, *_PACKED):
        raise KeyError(it.opcode)
    to, own = match["to"], match["own"]
    if len(it.operands) == 3 or to in _PACKED or own in _PACKED:
        _packed(w, it, match)
        return
    source, target = TYPES[own], TYPES[to]
    value = w.read(it.operands[1], source)
    integers = (own[0] in "us", to[0] in "us")
    if integers == (True, True):
        result = _between_integers(w, value, own, to, bool(match["sat"]))
    elif integers == (True, False):
        result = _from_integer(w, value, own, to, match["round"] or "rn")
    elif integers == (False, True):
        result = _to_integer(w, value, own, to, (match["round"] or "rzi")[:2], match["ftz"] or "")
    else:
        result = _between_floats(w, value, match)
    # A register may be wider than the result: sign bits fill it where the result has a sign.
    wide = w.type_of(it.operands[0])
    if wide and wide.startswith("i") and to[0] == "s" and bits_of(wide) > bits_of(target):
        result, target = w.emit(f"sext {target} {result} to {wide}"), wide
    w.assign(it.operands[0], target, result)


_PACKED = ("e4m3x2", "e5m2x2", "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2")


def _packed(w: Writer, it: PtxInstruction, match: re.Match[str]) -> None:
    """Two elements at once: the first source becomes the upper half."""
    to, own, round_ = match["to"], match["own"], match["round"] or "rn"
    relu = match["relu"] or match["relu2"] or ""
    sources = [(TYPES.get(own, "i16"), operand) for operand in it.operands[1:]]
    arguments = [(type_, w.read(operand, type_)) for type_, operand in sources]
    if to in _PACKED:
        head = "ff" if len(arguments) == 2 else own
        finite = "" if to in ("e4m3x2", "e5m2x2") else match["sat"] or ""
        name, result = f"{head}.to.{to}.{round_}{relu}{finite}", "i16"
    elif own in _PACKED:
        name, result = f"{own}.to.{to}.{round_}{relu}", TYPES[to]
        if own == "ue8m0x2":
            name = "ue8m0x2.to.bf16x2"
    else:
        name, result = f"ff2{to}.{round_}{relu}{match['sat'] or ''}", TYPES[to]
    w.assign(it.operands[0], result, w.call(result, f"llvm.nvvm.{name}", arguments))


def _between_integers(w: Writer, value: str, own: str, to: str, saturate: bool) -> str:
    source, target = TYPES[own], TYPES[to]
    wide = "i128"
    extended = w.emit(f"{'sext' if own[0] == 's' else 'zext'} {source} {value} to {wide}")
    if saturate:
        width = bits_of(target)
        low = -(1 << (width - 1)) if to[0] == "s" else 0
        high = (1 << (width - 1)) - 1 if to[0] == "s" else (1 << width) - 1
        extended = w.call(wide, f"llvm.smax.{wide}", [(wide, extended), (wide, str(low))])
        extended = w.call(wide, f"llvm.smin.{wide}", [(wide, extended), (wide, str(high))])
    return w.emit(f"trunc {wide} {extended} to {target}")


def _from_integer(w: Writer, value: str, own: str, to: str, round_: str) -> str:
    source, target = TYPES[own], TYPES[to]
    if own in _INTEGER_NAMES and to in _FLOAT_LETTERS and round_ != "rn":
        name = f"llvm.nvvm.{_INTEGER_NAMES[own]}2{_FLOAT_LETTERS[to]}.{round_}"
        return w.call(target, name, [(source, value)])
    if round_ != "rn":
        raise KeyError(f"cvt.{round_}.{to}.{own}")
    return w.emit(f"{'si' if own[0] == 's' else 'ui'}tofp {source} {value} to {target}")


def _to_integer(w: Writer, value: str, own: str, to: str, round_: str, ftz: str) -> str:
    source = TYPES[own]
    if own in ("f16", "bf16"):
        value, source, own = w.emit(f"fpext {source} {value} to float"), "float", "f32"
    # Smaller integers are limited to their range.
    full = to if to in _INTEGER_NAMES else f"{to[0]}32"
    name = f"llvm.nvvm.{_FLOAT_LETTERS[own]}2{_INTEGER_NAMES[full]}.{round_}{ftz}"
    result = w.call(TYPES[full], name, [(source, value)])
    return result if full == to else _between_integers(w, result, full, to, saturate=True)


def _between_floats(w: Writer, value: str, match: re.Match[str]) -> str:
    own, to, round_ = match["own"], match["to"], match["round"]
    source, target = TYPES[own], TYPES[to]
    ftz, relu = match["ftz"] or "", match["relu"] or match["relu2"] or ""
    if to == "tf32":
        name = f"llvm.nvvm.f2tf32.{round_}{relu}{match['sat'] or ''}"
        return w.call("i32", name, [(source, value)])
    if round_ in _ROUND_TO_INTEGER and own == to:
        name = f"llvm.{_ROUND_TO_INTEGER[round_]}.{'f64' if to == 'f64' else 'f32'}"
        return w.call(target, name, [(target, value)])
    if to in ("f16", "bf16") and own == "f32" and (relu or round_ == "rz"):
        name = f"llvm.nvvm.f2{to}.{round_ or 'rn'}{relu}"
        return w.call(target, name, [(source, value)])
    if (own, to) == ("f64", "f32") and round_ not in (None, "rn"):
        return w.call(target, f"llvm.nvvm.d2f.{round_}{ftz}", [(source, value)])
    result = value
    if bits_of(source) < bits_of(target):
        result = w.emit(f"fpext {source} {value} to {target}")
    elif bits_of(source) > bits_of(target):
        result = w.emit(f"fptrunc {source} {value} to {target}")
    if match["sat"] == ".sat" and to in ("f32", "f64"):
        result = w.call(target, f"llvm.nvvm.saturate.{_FLOAT_LETTERS[to]}", [(target, result)])
    return result

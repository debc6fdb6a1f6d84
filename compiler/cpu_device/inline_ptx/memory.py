"""Loads, stores, atomic operations and fences."""

from __future__ import annotations

import re

from .handlers import Handlers, parts_between
from .syntax import PtxInstruction
from .writer import TYPES, Writer, bits_of

HANDLERS = Handlers()
_SPACE = r"(?:\.(?:global|shared(?:::c(?:ta|luster))?|local|const))?"
_SCOPE = r"(?:\.(?:cta|cluster|gpu|sys))?"
_ACCESS = re.compile(
    rf"(?P<what>ld|st)(?P<order>\.(?:weak|volatile|relaxed|acquire|release))?{_SCOPE}{_SPACE}"
    r"(?:\.(?:nc|ca|cg|cs|lu|cv|wb|wt))*"
    r"(?:\.L1::\w+|\.L2::\w+|\.L2::cache_hint)*(?:\.v(?P<count>[248]))?\.(?P<type>[busf]\d+|bf16|f16x2)"
)
_ATOMIC = re.compile(
    rf"(?P<what>atom|red)(?P<order>\.(?:relaxed|acquire|release|acq_rel))?{_SCOPE}{_SPACE}"
    r"\.(?P<op>add|and|or|xor|min|max|inc|dec|exch|cas)(?P<noftz>\.noftz)?(?:\.v(?P<count>[248]))?\.(?P<type>[busf]\d+|bf16|f16x2)"
)
_ORDERS = {
    ".relaxed": "monotonic",
    ".acquire": "acquire",
    ".release": "release",
    ".acq_rel": "acq_rel",
}


@HANDLERS.add(_ACCESS.pattern)
def _access(w: Writer, it: PtxInstruction) -> None:
    match = _ACCESS.fullmatch(it.opcode)
    assert match is not None
    type_ = TYPES[match["type"]]
    step = bits_of(type_) // 8
    loads = match["what"] == "ld"
    pointer = w.address(it.operands[1 if loads else 0])
    values = it.operands[0 if loads else 1]
    listed = parts_between(values) if values.startswith("{") else (values,)
    order = _ORDERS.get(match["order"] or "")
    atomic, suffix = ("atomic ", f" {order}") if order else ("", "")
    if match["order"] == ".volatile":
        atomic = "volatile "
    for number, value in enumerate(listed):
        at = pointer
        if number:
            at = w.emit(f"getelementptr i8, ptr {pointer}, i64 {number * step}")
        if loads:
            loaded = w.emit(f"load {atomic}{type_}, ptr {at}{suffix}, align {step}")
            _widen(w, value, match["type"], loaded)
        else:
            stored = w.read(value, type_)
            w.line(f"store {atomic}{type_} {stored}, ptr {at}{suffix}, align {step}")


def _widen(w: Writer, register: str, ptx_type: str, value: str) -> None:
    """Into a register that may be wider: signed values keep their sign."""
    type_, wide = TYPES[ptx_type], w.type_of(register)
    if wide and wide.startswith("i") and ptx_type[0] == "s" and bits_of(wide) > bits_of(type_):
        value, type_ = w.emit(f"sext {type_} {value} to {wide}"), wide
    w.assign(register, type_, value)


@HANDLERS.add(_ATOMIC.pattern)
def _atomic(w: Writer, it: PtxInstruction) -> None:
    match = _ATOMIC.fullmatch(it.opcode)
    assert match is not None
    ptx_type, op = match["type"], match["op"]
    type_ = TYPES[ptx_type]
    returns = match["what"] == "atom"
    operands = it.operands[1:] if returns else it.operands
    pointer = w.address(operands[0])
    order = _ORDERS.get(match["order"] or "", "monotonic")
    if match["count"]:
        _combine_each(w, it, match)
        return
    if op == "cas":
        compared, new = (w.read(operand, type_) for operand in operands[1:3])
        failure = {"acq_rel": "acquire", "release": "monotonic"}.get(order, order)
        pair = w.emit(f"cmpxchg ptr {pointer}, {type_} {compared}, {type_} {new} {order} {failure}")
        result = w.emit(f"extractvalue {{ {type_}, i1 }} {pair}, 0")
    else:
        value = w.read(operands[1], type_)
        result = w.emit(
            f"atomicrmw {_operation(op, ptx_type)} ptr {pointer}, {type_} {value} {order}"
        )
    if returns:
        w.assign(it.operands[0], type_, result)


def _combine_each(w: Writer, it: PtxInstruction, match: re.Match[str]) -> None:
    """A vector, of which each element is combined by itself."""
    type_, returns = TYPES[match["type"]], match["what"] == "atom"
    results = parts_between(it.operands[0]) if returns else ()
    place, values = it.operands[1:3] if returns else it.operands[:2]
    pointer = w.address(place)
    for number, each in enumerate(parts_between(values)):
        at = w.emit(f"getelementptr i8, ptr {pointer}, i64 {number * bits_of(type_) // 8}")
        what = f"{_operation(match['op'], match['type'])} ptr {at}, {type_} {w.read(each, type_)}"
        found = w.emit(f"atomicrmw {what} {_ORDERS.get(match['order'] or '', 'monotonic')}")
        if returns:
            w.assign(results[number], type_, found)


def _operation(op: str, ptx_type: str) -> str:
    """LLVM's name of an atomic operation."""
    if "f" in ptx_type:
        return {"add": "fadd", "min": "fmin", "max": "fmax", "exch": "xchg"}[op]
    if op in ("min", "max"):
        return op if ptx_type[0] == "s" else f"u{op}"
    return {"exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap"}.get(op, op)


@HANDLERS.add(
    r"membar\.(cta|gl|sys)|fence(\.sc|\.acq_rel)?\.(cta|cluster|gpu|sys)|fence\.proxy\..*|fence\.mbarrier_init\..*|fence\..*sync_restrict.*"
)
def _fence(w: Writer, it: PtxInstruction) -> None:
    order = "acq_rel" if "acq_rel" in it.opcode or "proxy" in it.opcode else "seq_cst"
    w.line(f"fence {order}")


@HANDLERS.add(r"createpolicy\..*")
def _policy(w: Writer, it: PtxInstruction) -> None:
    """A policy is any number: loads and stores that take one do without."""
    w.assign(it.operands[0], "i64", "0")


@HANDLERS.add(
    r"prefetchu?\..*|applypriority\..*|discard\..*|griddepcontrol\..*|setmaxnreg\..*|cp\.async\.bulk\.prefetch\..*|pmevent.*"
)
def _nothing(w: Writer, it: PtxInstruction) -> None:
    """Has no effect on the CPU device."""
    del w, it

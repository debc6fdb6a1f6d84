"""Extended-precision arithmetic: instructions that give and take the carry flag.

The flag is a register of the template, CC.CF (PTX ISA, extended-precision integer arithmetic).
"""

from __future__ import annotations

from .handlers import Handlers
from .syntax import PtxInstruction
from .writer import TYPES, Writer, bits_of

HANDLERS = Handlers()
_FLAG = "CC.CF"


@HANDLERS.add(r"(add|sub|addc|subc|mad\.(lo|hi)|madc\.(lo|hi))(\.cc)?\.[us](32|64)")
def _extended(w: Writer, it: PtxInstruction) -> None:
    operation, *parts = it.opcode.split(".")
    type_ = TYPES[parts[-1]]
    to, *sources = it.operands
    values = [w.read(operand, type_) for operand in sources]
    if operation.startswith("mad"):
        values = [_product(w, parts, type_, values), values[2]]
    takes = operation.endswith("c")
    result, carry = _sum(w, operation.startswith("sub"), type_, values, takes)
    w.assign(to, type_, result)
    if "cc" in parts:
        if w.type_of(_FLAG) is None:
            w.declare(_FLAG, "i1")
        w.assign(_FLAG, "i1", carry)


def _product(w: Writer, parts: list[str], type_: str, values: list[str]) -> str:
    """Returns the lower or upper half of the product of the first two values."""
    bits = bits_of(type_)
    wide = f"i{2 * bits}"
    extend = "sext" if parts[-1].startswith("s") else "zext"
    left, right = (w.emit(f"{extend} {type_} {value} to {wide}") for value in values[:2])
    whole = w.emit(f"mul {wide} {left}, {right}")
    if parts[0] == "hi":
        whole = w.emit(f"lshr {wide} {whole}, {bits}")
    return w.emit(f"trunc {wide} {whole} to {type_}")


def _sum(w: Writer, subtracts: bool, type_: str, values: list[str], takes: bool) -> tuple[str, str]:
    """Sum or difference of two values and the flag, and the carry or borrow out of it."""
    wide = f"i{2 * bits_of(type_)}"
    left, right = (w.emit(f"zext {type_} {value} to {wide}") for value in values)
    operation = "sub" if subtracts else "add"
    whole = w.emit(f"{operation} {wide} {left}, {right}")
    if takes:
        flag = w.emit(f"zext i1 {w.read(_FLAG, 'i1')} to {wide}")
        whole = w.emit(f"{operation} {wide} {whole}, {flag}")
    result = w.emit(f"trunc {wide} {whole} to {type_}")
    upper = w.emit(f"lshr {wide} {whole}, {bits_of(type_)}")
    return result, w.emit(f"trunc {wide} {upper} to i1")

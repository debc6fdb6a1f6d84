"""What may be computed of a sum's parts, so that it gives the parts of its result's sum."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir
from ..fusion.fills import filled_with
from ..fusion.generic import inputs_of, outs_of
from ..fusion.kinds import is_neutral
from ..walking import is_used

_SUMS = ("arith.addf", "arith.subf", "arith.addi", "arith.subi")
_UNARY = ("arith.negf", "arith.extf", "arith.truncf")
_PRODUCTS = ("arith.mulf", "arith.muli")


def passes_parts(op: ir.Operation, partial: Sequence[bool]) -> bool:
    """Returns whether a linalg operation of sums' parts gives the parts of its result's sum.

    `partial` says which operands are such parts; another one is the same on all devices.
    """
    if len(op.results) != 1:
        return False
    block = op.regions[0].blocks[0]
    parts: dict[ir.Value, bool] = {}
    for number, argument in enumerate(block.arguments):
        parts[argument] = partial[number]
    out = len(inputs_of(op))
    start = filled_with(outs_of(op)[0])
    begins = block.arguments[out]
    if not parts[begins] and start is not None and _is_zero(start):
        # Zeros are the parts of zeros.
        parts[begins] = True
    if is_used(begins) and not parts[begins]:
        # It is combined with parts, and then not the same on all devices.
        return False
    for child in block:
        inner = child.operation
        if inner.name == "linalg.yield":
            return parts.get(inner.operands[0], False)
        if len(inner.results) != 1 or len(inner.regions):
            return False
        linear = _is_linear(inner, [parts.get(each, False) for each in inner.operands])
        if linear is None:
            return False
        parts[inner.results[0]] = linear
    return False


def _is_linear(op: ir.Operation, partial: list[bool]) -> bool | None:
    """Returns whether the result is parts of a sum; None where parts give neither such nor a
    value that is the same on all devices.
    """
    if not any(partial):
        return False
    # Parts of narrow floats are rounded before they are combined.
    if op.name in _UNARY or (op.name in _SUMS and all(partial)):
        return True
    if (op.name in _PRODUCTS and not all(partial)) or (op.name == "arith.divf" and partial[0]):
        return True if op.name in _PRODUCTS or not partial[1] else None
    return None


def _is_zero(start: ir.Value) -> bool:
    return is_neutral("addf" if isinstance(start.type, ir.FloatType) else "addi", start)

"""cf.assert on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..frame import Frame
from ..registry import interprets

# arith.cmpi's predicate sge: canonicalization makes it of sle, to put a known number second.
_AT_LEAST = 5


@interprets("cf.assert")
def assertion(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    if not frame.value(op.operands[0]):
        fault.fail(op, ir.StringAttr(op.attributes["msg"]).value + _shown(op, frame))
    return []


def _shown(op: ir.Operation, frame: Frame) -> str:
    """Returns the end of the message of a failed check of sizes, which shows the two numbers."""
    owner = op.operands[0].owner
    if "hir.shown" not in op.attributes or isinstance(owner, ir.Block):
        return ""
    comparison = owner.operation
    if comparison.name != "arith.cmpi":
        return ""
    numbers = [frame.value(operand) for operand in comparison.operands]
    if ir.IntegerAttr(comparison.attributes["predicate"]).value == _AT_LEAST:
        numbers.reverse()
    return f": {ir.StringAttr(op.attributes['hir.shown']).value.format(*numbers)}"

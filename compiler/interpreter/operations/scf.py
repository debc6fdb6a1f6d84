"""scf.for and scf.if, as upstream's passes leave them on the host and in linalg's regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.mlir import ir
from .. import fault
from ..frame import Frame
from ..registry import interprets


@interprets("scf.if")
def if_(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    taken = op.regions[0 if frame.value(op.operands[0]) else 1]
    if not len(taken.blocks):
        return []
    ((_, values),) = frame.run_block(taken.blocks[0])
    return values


@interprets("scf.for")
def for_(op: ir.Operation, frame: Frame) -> Sequence[Any]:
    start, stop, step = (frame.number(operand) for operand in list(op.operands)[:3])
    if step <= 0:
        fault.fail(op, f"the step of a loop is positive, not {step}")
    carried = [frame.value(operand) for operand in list(op.operands)[3:]]
    block = op.regions[0].blocks[0]
    for index in range(start, stop, step):
        for argument, value in zip(block.arguments, [index, *carried], strict=True):
            frame.values[argument] = value
        ((_, carried),) = frame.run_block(block)
    return carried
